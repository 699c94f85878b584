"""Patterns as the planner of detection sees them: events, structure, conditions and a window (Section 2).

A pattern here is one clause of a query's normal form: no OR, and NOT and Kleene closure on single events only. Texts of
conditions hold `$0`, `$1` ... in place of variables, so that two queries that name their variables differently have the
same texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from typing import Literal

Clock = Literal["time", "events"]
"""What a window is measured in: seconds, or places of events in the stream."""

Pairs = frozenset[tuple[str, str]]
"""A strict partial order: pairs of an event and one that comes after it."""


class Kind(StrEnum):
    SINGLE = "single"
    KLEENE = "kleene"
    NEGATED = "negated"


@dataclass(frozen=True)
class Event:
    """An event that a pattern asks for, or forbids."""

    name: str
    """The variable; unique in its pattern."""
    type: str
    own: str = ""
    """The canonical text of the condition on this event alone, with `$0` for its variable."""
    kind: Kind = Kind.SINGLE
    least: int = 1
    most: int | None = 1
    """Bounds of a Kleene closure; None for no upper bound."""

    @property
    def positive(self) -> bool:
        return self.kind is not Kind.NEGATED


@dataclass(frozen=True)
class Condition:
    """A condition on two or more events: `$0` in the text is the first of them, `$1` the second, and so on."""

    events: tuple[str, ...]
    text: str
    symmetric: bool = False
    """Whether the order of the events means nothing, as in `$0.x = $1.x`."""


@dataclass(frozen=True)
class Window:
    """The span of a match: its last event comes less than `length` after its first."""

    length: float
    clock: Clock = "time"


@dataclass(frozen=True)
class Pattern:
    """A pattern (E, S, C, W). The structure S is the partial order `before`: total for SEQ, empty for AND."""

    name: str
    events: tuple[Event, ...]
    before: Pairs
    """Transitively closed. A negated event comes after all events before its gap, and before all that follow it."""
    conditions: tuple[Condition, ...]
    window: Window

    def __post_init__(self) -> None:
        if len(self.by_name) != len(self.events):
            raise ValueError(f"pattern {self.name}: a name stands for two events; give each event a name of its own")
        named = {name for pair in self.before for name in pair} | {
            name for condition in self.conditions for name in condition.events
        }
        if unknown := sorted(named - self.by_name.keys()):
            raise ValueError(
                f"pattern {self.name}: no event is called {unknown[0]}; name one of {', '.join(self.by_name)}"
            )
        if any(first == second for first, second in closed(self.before)):
            raise ValueError(f"pattern {self.name}: an event comes before itself; the structure has to be an order")
        if not any(event.positive for event in self.events):
            raise ValueError(f"pattern {self.name}: all its events are negated; add one that a match consists of")

    @cached_property
    def by_name(self) -> dict[str, Event]:
        return {event.name: event for event in self.events}

    @cached_property
    def positive(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.positive)

    @cached_property
    def negated(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if not event.positive)

    def predecessors(self, name: str) -> frozenset[str]:
        return frozenset(first for first, second in self.before if second == name)

    def successors(self, name: str) -> frozenset[str]:
        return frozenset(second for first, second in self.before if first == name)

    @cached_property
    def needs(self) -> dict[str, frozenset[str]]:
        """Return, by negated event, the positive events that have to be bound before it can be looked for.

        They are its neighbours in the structure, and those that a condition relates it to. Without its neighbours it
        would forbid more than the pattern does. At an edge of the pattern its gap ends with the window of the whole
        match, so that it needs all events.
        """
        return {event.name: self._needs(event.name) for event in self.negated}

    def _needs(self, name: str) -> frozenset[str]:
        if self.at_edge(name):
            return frozenset(event.name for event in self.positive)
        before, after = self.predecessors(name), self.successors(name)
        last = {one for one in before if not self.successors(one) & before}
        first = {one for one in after if not self.predecessors(one) & after}
        related = {one for condition in self.conditions if name in condition.events for one in condition.events}
        return frozenset((last | first | related) - {name})

    def at_edge(self, name: str) -> bool:
        """Return whether a negated event's gap has no event before it, or none after it."""
        return not self.predecessors(name) or not self.successors(name)

    def projection(self, names: Iterable[str], name: str | None = None) -> Pattern:
        """Return the subpattern of some of the events, π_X of structure and conditions (Section 4.1)."""
        kept = frozenset(names)
        for event in self.negated:
            if event.name in kept and (missing := self.needs[event.name] - kept):
                raise ValueError(
                    f"NOT {event.name} forbids more without {', '.join(sorted(missing))}: keep them as well"
                )
        return Pattern(
            name or self.name,
            tuple(event for event in self.events if event.name in kept),
            frozenset(pair for pair in self.before if kept.issuperset(pair)),
            tuple(condition for condition in self.conditions if kept.issuperset(condition.events)),
            self.window,
        )


def closed(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return the transitive closure of pairs."""
    found = set(pairs)
    while new := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= new
    return frozenset(found)


def sequence(name: str, events: Sequence[Event], window: Window, conditions: Sequence[Condition] = ()) -> Pattern:
    """Return SEQ of events. Two negated events of one gap are not ordered."""
    pairs = {
        (first.name, second.name) for first, second in combinations(events, 2) if first.positive or second.positive
    }
    return Pattern(name, tuple(events), frozenset(pairs), tuple(conditions), window)


def conjunction(name: str, events: Sequence[Event], window: Window, conditions: Sequence[Condition] = ()) -> Pattern:
    """Return AND of events."""
    return Pattern(name, tuple(events), frozenset(), tuple(conditions), window)


def bounds_text(event: Event) -> str:
    """Return the bounds of a Kleene closure as they stand behind a type: `+`, `{2,}` or `{1,3}`."""
    return "+" if (event.least, event.most) == (1, None) else f"{{{event.least},{event.most or ''}}}"


def filled(text: str, names: Sequence[str]) -> str:
    """Return a text with names in place of `$0`, `$1` ..., but for those in quotes."""
    return re.sub(r"'[^']*'|\$(\d+)", lambda found: names[int(found[1])] if found[1] else found[0], text)
