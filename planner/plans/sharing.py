"""Share sets: which queries may share the propagation of which Kleene sub-patterns (HAMLET, Section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.language.syntax import Semantics


@dataclass(frozen=True)
class Sharer:
    """E+ in one member of a share set: events of E lengthen the trends of `target` and of its `inputs`."""

    member: int
    """Number in the share set."""
    target: int
    """The state of the member's machine whose trends end with an event of E."""
    inputs: tuple[int, ...]
    """The states before it: what a snapshot at graphlet level is the sum of, with the target's own trends."""
    consumed: tuple[int, ...]
    """The states whose trends an event of E ends or takes along: none where trends go on beside longer ones."""
    end: int | None
    """The state of trends that end with an event of E for good, where the target's are taken along by the next."""
    bound: tuple[str, ...]
    """The named variables that bind the event."""
    accepts: frozenset[int]
    """The classes of the member's machine whose events it takes."""
    predicates: frozenset[str]
    """The local predicates that its events satisfy, as texts without the variable: alike for alike queries."""


@dataclass(frozen=True)
class Kleene:
    """A sharable Kleene sub-pattern E+ (Definition 3.1)."""

    type: str
    sharers: tuple[Sharer, ...]

    @property
    def lanes(self) -> tuple[tuple[int, ...], ...]:
        """Its sharers, by number, that always take the same events: those with the same predicates."""
        by_predicates: dict[frozenset[str], list[int]] = {}
        for number, sharer in enumerate(self.sharers):
            by_predicates.setdefault(sharer.predicates, []).append(number)
        return tuple(map(tuple, by_predicates.values()))


@dataclass(frozen=True)
class Member:
    """A counter of a query of the workload, both by number."""

    query: int
    counter: int


@dataclass(frozen=True)
class ShareSet:
    """Sharable queries (Definition 3.2), which one HAMLET graph answers."""

    members: tuple[Member, ...]
    kleenes: tuple[Kleene, ...]
    semantics: Semantics
    """Of all its queries."""


@dataclass(frozen=True)
class MovingSet(ShareSet):
    """Sharable queries whose windows move with every event; what they share is what a burst does to their trends."""


@dataclass(frozen=True)
class Compared:
    """A predicate on neighbours: a link of a member's query, both by number."""

    member: int
    link: int


@dataclass(frozen=True)
class LinkLane:
    """Sharers of a Kleene, one behind the other, that all compare neighbours alike."""

    links: tuple[int, ...]
    """Numbers in the set; all of them must hold."""
    sharers: int
    """How many they are."""


@dataclass(frozen=True)
class LinkedSet(ShareSet):
    """Sharable queries with predicates on neighbours; what they share is one event-grained graph."""

    links: tuple[Compared, ...]
    """Each once, as one of the members has it."""
    lanes: tuple[tuple[LinkLane, ...], ...]
    """By Kleene."""
