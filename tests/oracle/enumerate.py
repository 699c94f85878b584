"""Enumeration of all trends of a pattern among a few events, by the definition in `language.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.oracle.expressions import Event, Predicates
from tests.oracle.pattern import Gap, Place, endings, steps
from tests.oracle.query import One, Pattern

ANY, NEXT, CONTIGUOUS = "skip-till-any-match", "skip-till-next-match", "contiguous"

Chain = tuple[int, ...]
"""A trend, as the numbers of its events."""

Bound = frozenset[tuple[str, int]]
"""The bindings of a trend's events to the variables that are asked for."""

Trends = dict[Chain, set[Bound]]
"""Trends, each with all its bindings of these variables."""


@dataclass
class Scene:
    """The events of one partition in one window, in order of time."""

    events: Sequence[Event]
    predicates: Predicates
    semantics: str = ANY

    def __post_init__(self) -> None:
        self._successors: dict[tuple[int, Place], list[tuple[int, Place]]] = {}
        self._silent: dict[tuple[Pattern, int, int], bool] = {}

    @cached_property
    def times(self) -> list[Any]:
        return [event["time"] for event in self.events]

    def trends(self, pattern: Pattern, asked: frozenset[str] = frozenset()) -> Trends:
        found: Trends = {}
        for chain, bound in self._chains(pattern, asked):
            found.setdefault(chain, set()).add(bound)
        return found

    def _chains(self, pattern: Pattern, asked: frozenset[str]) -> Iterator[tuple[Chain, Bound]]:
        """Extend chains from their first events, each together with all places that its last event may have."""
        grown: list[tuple[Chain, set[tuple[Place, Bound]]]] = []
        for event, places in _by_event(self._starts(pattern)).items():
            grown.append(((event,), {(place, _bind(frozenset(), asked, place, event)) for place in places}))
        while grown:
            chain, ways = grown.pop()
            longer: dict[int, set[tuple[Place, Bound]]] = {}
            for place, bound in ways:
                if self._may_end(chain[-1], place):
                    yield chain, bound
                for event, follower in self._adjacent(chain[-1], place):
                    longer.setdefault(event, set()).add((follower, _bind(bound, asked, follower, event)))
            grown.extend(((*chain, event), further) for event, further in longer.items())

    def _starts(self, pattern: Pattern) -> Iterator[tuple[int, Place]]:
        for event, time in enumerate(self.times):
            before = [other for other, earlier in enumerate(self.times) if earlier < time]
            for step in steps((pattern,)):
                if self._takes(event, step.at) and self._silent_in(step.gap, before):
                    yield event, step.place

    def _may_end(self, event: int, place: Place) -> bool:
        after = [other for other, later in enumerate(self.times) if later > self.times[event]]
        return any(self._silent_in(gap, after) for gap in endings(place.rest))

    def _adjacent(self, event: int, place: Place) -> list[tuple[int, Place]]:
        key = event, place
        if key not in self._successors:
            self._successors[key] = self._narrowed(event, list(self._adjacent_by_any(event, place)))
        return self._successors[key]

    def _adjacent_by_any(self, event: int, place: Place) -> Iterator[tuple[int, Place]]:
        this = self.events[event]
        for other, successor in enumerate(self.events):
            if not self.times[event] < self.times[other]:
                continue
            for step in steps(place.rest):
                if (
                    self._takes(other, step.at)
                    and self.predicates.joins(place.at.variable, this, step.at.variable, successor)
                    and self._silent_in(step.gap, self._between(event, other))
                ):
                    yield other, step.place

    def _narrowed(self, event: int, adjacent: list[tuple[int, Place]]) -> list[tuple[int, Place]]:
        """Return the successors by skip-till-any-match that the scene's semantics allows."""
        if self.semantics == NEXT:
            followers = {other for other, _ in adjacent}
            return [pair for pair in adjacent if not followers.intersection(self._between(event, pair[0]))]
        if self.semantics == CONTIGUOUS:
            return [pair for pair in adjacent if not self._between(event, pair[0])]
        assert self.semantics == ANY
        return adjacent

    def _takes(self, event: int, position: One) -> bool:
        candidate = self.events[event]
        return candidate["type"] == position.type and self.predicates.admits(position.variable, candidate)

    def _between(self, event: int, other: int) -> list[int]:
        return [each for each, time in enumerate(self.times) if self.times[event] < time < self.times[other]]

    def _silent_in(self, gap: Gap, stretch: list[int]) -> bool:
        """Return whether no negated sub-pattern of the gap has a match among the events of a stretch of time."""
        return all(self._no_match(part, stretch) for part in gap)

    def _no_match(self, part: Pattern, stretch: list[int]) -> bool:
        if not stretch:
            return True
        key = part, stretch[0], stretch[-1]
        if key not in self._silent:
            inner = Scene([self.events[each] for each in stretch], self.predicates)
            self._silent[key] = next(inner._chains(part, frozenset()), None) is None
        return self._silent[key]


def _by_event(pairs: Iterator[tuple[int, Place]]) -> dict[int, list[Place]]:
    grouped: dict[int, list[Place]] = {}
    for event, place in pairs:
        grouped.setdefault(event, []).append(place)
    return grouped


def _bind(bound: Bound, asked: frozenset[str], place: Place, event: int) -> Bound:
    return bound | {(place.at.variable, event)} if place.at.variable in asked else bound
