"""The strategies, a line each, by the names that a user gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from elsinore.planner.detection.search.heuristics import SimulatedAnnealing, TabuSearch
from elsinore.planner.detection.search.neighbourhoods import EdgeNeighbourhood, VertexNeighbourhood
from elsinore.planner.detection.search.searching import Search, searched
from elsinore.planner.detection.strategies.motto import merge_and_decompose
from elsinore.planner.detection.strategies.reorder import ordered, reordered
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.strategies.spass import redundancy_ratio
from elsinore.planner.detection.strategies.written import as_written


@dataclass(frozen=True)
class Strategy:
    name: str
    paper: str
    """What the paper calls it."""
    trees: Callable[[Request], Trees]
    shares: bool = True
    """Whether equal subtrees of different patterns are one node."""
    ordered: bool = False
    """Whether its plans are orders. A search looks at their prefixes; plans have all leaves of left-deep trees."""
    adaptive: bool = True
    """Whether a running system looks for a better plan when statistics drift."""


def by_search(search: Search, request: Request) -> Trees:
    """Return what a search finds that begins with the cheapest of the local plans and the plans without search."""
    starts = [reordered(request), as_written(request)]
    if search.plans == "trees":
        starts += [ordered(request), redundancy_ratio(request), merge_and_decompose(request)]
    return searched(request.graph, request.model, search, request.budget, request.seed, starts).trees


EDGE = EdgeNeighbourhood()
SA_EDGE = Search("trees", SimulatedAnnealing(), EDGE)
TS_EDGE = Search("trees", TabuSearch(), EDGE)
EDGE_PREFIX = Search("orders", SimulatedAnnealing(), EDGE)
TS_EDGE_PREFIX = Search("orders", TabuSearch(), EDGE)
SMALL_VERTEX, LARGE_VERTEX = VertexNeighbourhood(4), VertexNeighbourhood(8)

STRATEGIES: dict[str, Strategy] = {
    one.name: one
    for one in (
        Strategy("trivial", "no sharing, no rewriting", as_written, shares=False, ordered=True),
        Strategy("reorder", "RE", reordered, shares=False, ordered=True),
        Strategy("share", "SH", as_written, ordered=True),
        Strategy("spass", "SH-RR", redundancy_ratio),
        Strategy("motto", "SH-MDT", merge_and_decompose),
        Strategy("mpt", "SA-EDGE-PREFIX", partial(by_search, EDGE_PREFIX), ordered=True),
        Strategy("mpt-tabu", "TS-EDGE-PREFIX", partial(by_search, TS_EDGE_PREFIX), ordered=True),
        Strategy("mpm", "SA-EDGE", partial(by_search, SA_EDGE)),
        Strategy("mpm-vertex4", "SA-VERTEX4", partial(by_search, Search("trees", SimulatedAnnealing(), SMALL_VERTEX))),
        Strategy("mpm-vertex8", "SA-VERTEX8", partial(by_search, Search("trees", SimulatedAnnealing(), LARGE_VERTEX))),
        Strategy("mpm-tabu", "TS-EDGE", partial(by_search, TS_EDGE)),
        Strategy("mpm-tabu-vertex4", "TS-VERTEX4", partial(by_search, Search("trees", TabuSearch(), SMALL_VERTEX))),
        Strategy("mpm-tabu-vertex8", "TS-VERTEX8", partial(by_search, Search("trees", TabuSearch(), LARGE_VERTEX))),
        Strategy("mpm-static", "static", partial(by_search, SA_EDGE), adaptive=False),
    )
}
