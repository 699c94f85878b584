"""A plain engine that keeps partial matches as objects: what detection is measured against.

It is what one would write by hand for a sequence of single events under skip-till-any-match: an automaton with a list
of partial matches by state, in the order of their first events; each event extends every partial match that waits for
its type, and each predicate is decided as soon as both of its events are there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Event = tuple[str, int, float]
"""Type, time, value."""

Predicate = tuple[int, int, Callable[[float, float], bool]]
"""The places of two events in the sequence, the later one last, and what has to hold between their values."""


@dataclass(frozen=True, slots=True)
class Partial:
    events: tuple[Event, ...]


class PartialMatches:
    def __init__(self, types: Sequence[str], within: int, predicates: Sequence[Predicate] = ()) -> None:
        self.within = within
        self.places = {name: place for place, name in enumerate(types)}
        self.checks = [[(a, holds) for a, b, holds in predicates if b == place] for place in range(len(types))]
        self.waiting: list[deque[Partial]] = [deque() for _ in types]
        """By place, the partial matches that wait for an event there."""

    def process(self, event: Event) -> Iterator[Partial]:
        """Take in an event; yield the matches that it completes."""
        place = self.places.get(event[0])
        if place is None:
            return
        if place == 0:
            self.waiting[1].append(Partial((event,)))
            return
        last = place == len(self.waiting) - 1
        waiting = self.waiting[place]
        while waiting and waiting[0].events[0][1] <= event[1] - self.within:
            waiting.popleft()
        checks = self.checks[place]
        for partial in waiting:
            events = partial.events
            if (
                events[-1][1] < event[1]
                and event[1] - events[0][1] < self.within
                and all(holds(events[a][2], event[2]) for a, holds in checks)
            ):
                longer = Partial((*events, event))
                if last:
                    yield longer
                else:
                    self.waiting[place + 1].append(longer)
