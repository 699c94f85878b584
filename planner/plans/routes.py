"""Routes: which events of a stream go where, when many places share the work.

Queries that split the stream alike go one way together. An event is sent along every route that wants it, to the place
that owns the *key group* of its values there: so all events of a partition meet, and partitions spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.machines.automaton import operands

Way = tuple[tuple[str, ...], tuple[str, ...]]
"""How a route splits the stream, and what says where an event goes; no two routes of a workload have the same."""


@dataclass(frozen=True)
class Route:
    """Some queries of a workload, and what they have to see."""

    queries: tuple[str, ...]
    partition: tuple[str, ...]
    """An event with a null in one of these is in no partition."""
    keys: tuple[str, ...]
    """Those of them that say where an event goes; without any, all events go to one place."""
    types: frozenset[str] | None
    """None: events of every type, as under contiguous."""
    columns: tuple[str, ...]

    def home(self, groups: int) -> int:
        """The key group of all events, where nothing says where they go."""
        return crc32(repr(self.partition).encode()) % groups

    def leads_as(self, other: Route) -> bool:
        """Does an event go the same way along both?"""
        return self.way == other.way

    @property
    def way(self) -> Way:
        return self.partition, self.keys


@dataclass(frozen=True)
class Ranges:
    """All key groups, in ranges that follow one another; a place owns some of these that follow one another, too."""

    groups: int
    starts: tuple[int, ...]
    """Of the ranges; the first one is 0."""
    firsts: tuple[int, ...]
    """By place, the first of its ranges."""

    @classmethod
    def even(cls, groups: int, places: int) -> Ranges:
        """One range for each place."""
        groups = max(groups, places)
        return cls(groups, tuple(place * groups // places for place in range(places)), tuple(range(places)))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def places(self) -> int:
        return len(self.firsts)

    def bounds(self, number: int) -> tuple[int, int]:
        """The first key group of a range, and the first one after it."""
        return (*self.starts, self.groups)[number], (*self.starts, self.groups)[number + 1]

    def of(self, place: int) -> range:
        """The ranges that a place owns."""
        return range(self.firsts[place], (*self.firsts, len(self.starts))[place + 1])

    def among(self, places: int) -> Ranges:
        """The same ranges, some of them cut, spread over so many places."""
        if places == self.places:
            return self
        wanted = self.even(self.groups, places)
        starts = tuple(sorted({*self.starts, *wanted.starts}))
        return Ranges(wanted.groups, starts, tuple(starts.index(start) for start in wanted.starts))


def routes(workload: Workload) -> tuple[Route, ...]:
    """Return the routes of a workload, in the order of their first queries."""
    found: dict[Way, list[Query]] = {}
    for query in workload.queries:
        found.setdefault((query.partition, _keys(query)), []).append(query)
    return tuple(_route(partition, keys, queries) for (partition, keys), queries in found.items())


def workload_along(route: Route, workload: Workload) -> Workload:
    """Return the queries of a workload that go along a route, as a workload."""
    return Workload(tuple(query for query in workload.queries if query.name in route.queries))


def _keys(query: Query) -> tuple[str, ...]:
    """Return the attributes that say where an event of a query goes.

    Rows of partitions of a group are added up; unless windows move with the events of the whole group. Members of an
    AND are paired up in a partition, and their pairs are not kept apart as numbers that could be added.
    """
    together = query.slide is None or len(operands(query.pattern)) > 1
    return query.groups if together else query.partition


def _route(partition: tuple[str, ...], keys: tuple[str, ...], queries: list[Query]) -> Route:
    sees_all = any(query.semantics == "contiguous" for query in queries)
    return Route(
        tuple(query.name for query in queries),
        partition,
        keys,
        None if sees_all else Workload(tuple(queries)).types,
        tuple(sorted({column for query in queries for column in query.columns})),
    )
