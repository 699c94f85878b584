"""The shape of a pattern: what is left of it when the names of its variables are forgotten.

Events become numbers, so that sets of events are bit masks. Two sets of events, of one pattern or of two, have the same
`Identity` exactly if types, own conditions, structure and conditions of their projections are equal up to a renaming;
windows do not count (a shared node keeps the largest).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from sys import intern

from elsinore.planner.detection.canonical import Wider, canonical_slots
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, bounds_text

Identity = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, tuple[int, ...]], ...]]
"""Labels by slot, relations of each two slots, and conditions over more than two with their slots."""

Slots = tuple[int, ...]
"""Numbers of events, in the order of the slots of an identity."""

SYMMETRIC = "= "
"""What the text of a condition begins with here where the order of its events means nothing."""


class Shape:
    """A pattern in numbers. Events are sorted by label, so that equal subpatterns are enumerated in the same order."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        labelled = sorted((_label(pattern, event), place, event) for place, event in enumerate(pattern.events))
        self.labels = tuple(intern(label) for label, _, _ in labelled)
        self.events: tuple[Event, ...] = tuple(event for _, _, event in labelled)
        self.number = {event.name: number for number, event in enumerate(self.events)}
        self.written: Slots = tuple(self.number[event.name] for event in pattern.events)
        self.size = len(self.events)
        self.whole = (1 << self.size) - 1
        self.negated = self.mask(event.name for event in pattern.negated)
        self.before = [[(a.name, b.name) in pattern.before for b in self.events] for a in self.events]
        self.needs = tuple(self.mask(pattern.needs.get(event.name, ())) for event in self.events)
        self.relations = self._relations()
        self.wider: tuple[Wider, ...] = tuple(
            (self.mask(one.events), self._members(one), f"{SYMMETRIC if one.symmetric else ''}{one.text}")
            for one in pattern.conditions
            if len(one.events) > 2
        )
        self._identities: dict[int, tuple[Identity, Slots]] = {}
        self._ends: dict[int, int] = {}

    def mask(self, names: Iterable[str]) -> int:
        return sum(1 << self.number[name] for name in set(names))

    def _members(self, condition: Condition) -> Slots:
        numbers = tuple(self.number[name] for name in condition.events)
        return tuple(sorted(numbers)) if condition.symmetric else numbers

    def _relations(self) -> tuple[tuple[str, ...], ...]:
        found: list[list[list[str]]] = [[[] for _ in self.events] for _ in self.events]
        for x in range(self.size):
            for y in range(self.size):
                if self.before[x][y]:
                    found[x][y].append("<")
                    found[y][x].append(">")
        for condition in self.pattern.conditions:
            if len(condition.events) == 2:
                x, y = self._members(condition)
                found[x][y].append(condition.text)
                found[y][x].append(condition.text if condition.symmetric else f"~{condition.text}")
        return tuple(tuple(intern(" & ".join(sorted(texts))) for texts in row) for row in found)

    def closed(self, mask: int) -> bool:
        """Return whether a set of events is a subpattern: its negated events have all that they need."""
        negated = mask & self.negated
        return negated == 0 or (mask != negated and all(self.needs[x] & ~mask == 0 for x in bits(negated)))

    def node(self, mask: int) -> bool:
        """Return whether a set of events can be a node of a plan: a leaf, or a subpattern."""
        return mask & (mask - 1) == 0 or self.closed(mask)

    @cached_property
    def distinct(self) -> bool:
        """Return whether no two events have the same label."""
        return len(set(self.labels)) == self.size

    def identity(self, mask: int) -> tuple[Identity, Slots]:
        """Return the identity of a set of events, and the events in the order of its slots."""
        if mask not in self._identities:
            members = tuple(bits(mask))
            slots = members if self.distinct else canonical_slots(self, members)
            self._identities[mask] = (self.along(slots), slots)
        return self._identities[mask]

    def along(self, slots: Sequence[int]) -> Identity:
        """Return what is known of events in a certain order of slots."""
        return (
            tuple(self.labels[x] for x in slots),
            tuple(self.relations[x][y] for k, x in enumerate(slots) for y in slots[k + 1 :]),
            self.wider_along({number: slot for slot, number in enumerate(slots)}),
        )

    def wider_along(self, place: Mapping[int, int]) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Return the conditions on more than two of some events, in terms of the events' places."""
        found = ((text, tuple(place[x] for x in events)) for _, events, text in self.wider if place.keys() >= {*events})
        return tuple(sorted((text, tuple(sorted(at)) if text.startswith(SYMMETRIC) else at) for text, at in found))

    def may_end(self, own: int, whole: int) -> bool:
        """Return whether the last event of a set that a match consists of can be one of some of its events."""
        if whole not in self._ends:
            positive = tuple(bits(whole & ~self.negated))
            self._ends[whole] = sum(1 << x for x in positive if not any(self.before[x][y] for y in positive))
        return bool(own & self._ends[whole])

    def complete(self, left: int, right: int) -> tuple[Condition, ...]:
        """Return the conditions that become complete where two sets of events are joined."""
        masks = ((self.mask(condition.events), condition) for condition in self.pattern.conditions)
        return tuple(
            condition for mask, condition in masks if mask & ~(left | right) == 0 and mask & ~left and mask & ~right
        )

    def names(self, slots: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.events[x].name for x in slots)


@lru_cache(maxsize=8192)
def shape_of(pattern: Pattern) -> Shape:
    """Return the shape of a pattern; it is computed once for patterns in use."""
    return Shape(pattern)


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers in a set, smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _label(pattern: Pattern, event: Event) -> str:
    """Return what must be equal for two events to be the same leaf."""
    parts = [event.type]
    if event.kind is Kind.KLEENE:
        parts.append(bounds_text(event))
    own = [event.own] if event.own else []
    own += sorted(one.text for one in pattern.conditions if one.events == (event.name,))
    parts += [f"[{' & '.join(own)}]"] if own else []
    if event.kind is Kind.NEGATED:
        parts.insert(0, "NOT ")
        if pattern.at_edge(event.name):
            parts.append(f" within {pattern.window.length:g}")
    if pattern.window.clock == "events":
        parts.append(" by place")
    return "".join(parts)
