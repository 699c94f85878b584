"""Components of queries that return matches: those that have sub-patterns in common belong at one place.

A live stream keeps the events of the longest window, so to give them to every place would store them once per place.
Queries without keys are divided by the connected components of the multi-pattern graph instead (Kolchinsky & Schuster,
Section 4.1): no plan shares anything between two of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from elsinore.planner.detection.clauses import patterns_of
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.plans.routes import Components, may_be_spread, way_of

LEAST_SHARED_EVENTS = 2
"""Events of the smallest sub-pattern that connects two queries: to share the search for one event saves nothing."""

MOST_COMPONENTS = 8
"""Most numbers that the components of one way are given: each is a route, with a column of key groups."""


def components(workload: Workload, kept: Components | None = None) -> dict[str, int]:
    """Return the number of the component of each query that keys do not place, by name.

    Queries that are `kept` keep their numbers, because state does not move between routes. So two components that a new
    query connects stay apart, and the query goes to the one of which it has more queries as neighbours.
    """
    alike: dict[object, list[Query]] = {}
    for query in filter(may_be_spread, workload.queries):
        alike.setdefault(way_of(query), []).append(query)
    found: dict[str, int] = {}
    for queries in alike.values():
        found |= _numbered(list(_connected(queries)), kept or {})
    return found


def _numbered(clusters: Sequence[Sequence[str]], kept: Mapping[str, int]) -> dict[str, int]:
    """Return the number of each query: new clusters, large ones first, go where the fewest queries are."""
    found = {name: kept[name] for names in clusters for name in names if name in kept}
    loads = Counter(found.values())
    for names in sorted(clusters, key=len, reverse=True):
        known = Counter(found[name] for name in names if name in found)
        number = min(known or range(MOST_COMPONENTS), key=lambda one: (-known[one], loads[one], one))
        added = dict.fromkeys(set(names) - set(found), number)
        found |= added
        loads[number] += len(added)
    return found


def _connected(queries: Sequence[Query]) -> Iterator[list[str]]:
    """Yield the names of queries that have sub-patterns in common, directly or by way of others."""
    owners: dict[str, str] = {}
    graph = MultiPatternGraph()
    for query in queries:
        for pattern in patterns_of(normal_form(query)).values():
            owners[pattern.name] = query.name
            graph.add(pattern)
    groups = {query.name: [query.name] for query in queries}
    for patterns in graph.components(LEAST_SHARED_EVENTS):
        first, *others = (groups[owners[pattern]] for pattern in patterns)
        for other in others:
            if other is not first:
                first += other
                groups |= dict.fromkeys(other, first)
    yield from {id(names): names for names in groups.values()}.values()
