"""Routes: which events of a stream go to which of the places that share the work.

Queries that split the stream alike have one route. An event is sent along every route that wants it, to the place that
owns the *key group* of its values there. So all events of a partition meet, and partitions spread over the places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from zlib import crc32

from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.machines.automaton import operands

Way = tuple[tuple[str, ...], tuple[str, ...], bool, int]
"""The partition attributes of a route, those of them that determine the place, whether its windows count events, and
the number of the component of its queries; no two routes have the same."""

Components = Mapping[str, int]
"""By query that keys do not place, the number of its component; 0 where it is not known."""

GOLDEN = (sqrt(5) - 1) / 2
"""Multiples of the golden ratio, without their whole parts, are evenly distributed, however many they are."""


@dataclass(frozen=True)
class Route:
    """Some queries of a workload, and what they need of the stream."""

    queries: tuple[str, ...]
    partition: tuple[str, ...]
    """Attributes that split the stream; an event with a null in one of these is in no partition."""
    keys: tuple[str, ...]
    """The partition attributes that determine the place of an event; without any, all events go to one place."""
    types: frozenset[str] | None
    """The event types that the queries need; None for all types, as under contiguous and for windows of events."""
    columns: tuple[str, ...]
    counts_events: bool = False
    """Whether the windows of its queries count events: each place is then told of all events of the stream."""
    spread: bool = False
    """Whether every place gets all events of the route, and searches its share of the stream for matches."""
    lists_matches: bool = False
    """Whether some of its queries return matches: their rows are compared by the order in which events arrived."""
    component: int = 0
    """Tells routes apart whose queries have no keys, and no sub-pattern in common."""

    def home(self, groups: int) -> int:
        """Return the key group of all events of a route without keys; those of several components are far apart."""
        return (crc32(repr(self.partition).encode()) + int(self.component * GOLDEN % 1 * groups)) % groups

    def leads_as(self, other: Route) -> bool:
        """Return whether events go the same way along both routes."""
        return self.way == other.way

    @property
    def way(self) -> Way:
        return self.partition, self.keys, self.counts_events, self.component


@dataclass(frozen=True)
class Ranges:
    """All key groups, divided into consecutive ranges; each place owns consecutive ranges."""

    groups: int
    starts: tuple[int, ...]
    """The first key group of each range; that of the first range is 0."""
    firsts: tuple[int, ...]
    """By place, the number of its first range."""

    @classmethod
    def even(cls, groups: int, places: int) -> Ranges:
        """Return one range for each place; there are at least as many key groups as places."""
        groups = max(groups, places)
        return cls(groups, tuple(place * groups // places for place in range(places)), tuple(range(places)))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def places(self) -> int:
        return len(self.firsts)

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the first key group of a range, and the first one after it."""
        return (*self.starts, self.groups)[number], (*self.starts, self.groups)[number + 1]

    def of(self, place: int) -> range:
        """Return the numbers of the ranges that a place owns."""
        return range(self.firsts[place], (*self.firsts, len(self.starts))[place + 1])

    def among(self, places: int) -> Ranges:
        """Return the same ranges, some of them cut, spread over so many places.

        There must not be more places than key groups: the number of groups would change, and with it the group of each
        key.
        """
        if places == self.places:
            return self
        wanted = self.even(self.groups, places)
        starts = tuple(sorted({*self.starts, *wanted.starts}))
        return Ranges(wanted.groups, starts, tuple(starts.index(start) for start in wanted.starts))


def routes(workload: Workload, spread: bool = False, components: Components | None = None) -> tuple[Route, ...]:
    """Return the routes of a workload, in the order of their first queries.

    With `spread`, queries that `may_be_spread` have routes of their own; with `components`, one for each of these.
    """
    found: dict[tuple[Way, bool], list[Query]] = {}
    for query in workload.queries:
        way = way_of(query, (components or {}).get(query.name, 0) if may_be_spread(query) else 0)
        found.setdefault((way, spread and may_be_spread(query)), []).append(query)
    return tuple(_route(*way, queries, is_spread) for (way, is_spread), queries in found.items())


def way_of(query: Query, component: int = 0) -> Way:
    return query.partition, keys_of(query), query.counts_events, component


def may_be_spread(query: Query) -> bool:
    """Return whether no key determines the place of an event, but places may search the matches of a share each.

    The events of a window are all the state that a search needs, so every place can have it.
    """
    return query.detects and not keys_of(query)


def workload_along(route: Route, workload: Workload) -> Workload:
    """Return the queries of a workload that go along a route, as a workload."""
    return Workload(tuple(query for query in workload.queries if query.name in route.queries))


def keys_of(query: Query) -> tuple[str, ...]:
    """Return the attributes that determine the place of an event of a query.

    Partitions of a group may go to different places, because their rows can be added up. There are two exceptions:
    windows that move with the events of the whole group; and AND, whose members are paired up in a partition, since
    their pairs are not kept as numbers that could be added. Matches are listed and not added up; only LIMIT has to see
    those of a whole group.
    """
    if query.detects:
        return query.partition if query.limit is None else query.groups
    together = query.slide is None or len(operands(query.pattern)) > 1
    return query.groups if together else query.partition


def _route(
    partition: tuple[str, ...],
    keys: tuple[str, ...],
    counts_events: bool,
    component: int,
    queries: list[Query],
    spread: bool,
) -> Route:
    sees_all = counts_events or any(query.semantics == "contiguous" for query in queries)
    return Route(
        tuple(query.name for query in queries),
        partition,
        keys,
        None if sees_all else Workload(tuple(queries)).types,
        tuple(sorted({column for query in queries for column in query.columns})),
        counts_events,
        spread,
        any(query.detects for query in queries),
        component,
    )
