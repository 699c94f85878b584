"""Share sets: which queries may share the propagation of which Kleene sub-patterns (HAMLET, Section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.language.syntax import Semantics


@dataclass(frozen=True)
class Sharer:
    """A Kleene sub-pattern E+ in one member: events of E lengthen the trends of `target` and of its `inputs`."""

    member: int
    """Number of the member in the share set."""
    target: int
    """The state of the member's machine whose trends end with an event of E."""
    inputs: tuple[int, ...]
    """The states before the target. A snapshot at graphlet level is the sum of their trends and the target's own."""
    consumed: tuple[int, ...]
    """The states that an event of E empties, as it ends or consumes their trends; none under skip-till-any-match."""
    end: int | None
    """The state of trends that end for good with an event of E, where the next one consumes the target's; else None."""
    bound: tuple[str, ...]
    """The named variables that bind the event."""
    accepts: frozenset[int]
    """The classes of the member's machine whose events the sharer takes."""
    predicates: frozenset[str]
    """The local predicates that its events satisfy, as texts without the variable, so that equal ones compare equal."""


@dataclass(frozen=True)
class Kleene:
    """A sharable Kleene sub-pattern E+ (Definition 3.1)."""

    type: str
    sharers: tuple[Sharer, ...]

    @property
    def lanes(self) -> tuple[tuple[int, ...], ...]:
        """Return the sharers by number, grouped by their predicates: those of a group always take the same events."""
        by_predicates: dict[frozenset[str], list[int]] = {}
        for number, sharer in enumerate(self.sharers):
            by_predicates.setdefault(sharer.predicates, []).append(number)
        return tuple(map(tuple, by_predicates.values()))


@dataclass(frozen=True)
class Member:
    """A counter of a query of the workload; both are numbers."""

    query: int
    counter: int


@dataclass(frozen=True)
class ShareSet:
    """Sharable queries (Definition 3.2), which one HAMLET graph answers."""

    members: tuple[Member, ...]
    kleenes: tuple[Kleene, ...]
    semantics: Semantics
    """The semantics of all its queries."""


@dataclass(frozen=True)
class MovingSet(ShareSet):
    """Sharable queries whose windows move with every event; they share what a burst does to their trends."""


@dataclass(frozen=True)
class Compared:
    """A predicate on neighbours: a link of a member's query; both are numbers."""

    member: int
    link: int


@dataclass(frozen=True)
class LinkLane:
    """Consecutive sharers of a Kleene that have the same predicates on neighbours."""

    links: tuple[int, ...]
    """Numbers of the links in the set; all of them must hold."""
    sharers: int
    """The number of sharers."""


@dataclass(frozen=True)
class LinkedSet(ShareSet):
    """Sharable queries with predicates on neighbours; they share one event-grained graph."""

    links: tuple[Compared, ...]
    """The distinct links, each as one of the members has it."""
    lanes: tuple[tuple[LinkLane, ...], ...]
    """By Kleene, its lanes."""


Found = tuple[tuple[ShareSet, ...], tuple[tuple[str, str], ...]]
"""Share sets, and pairs of the name of a query that is in none, and the reason."""
