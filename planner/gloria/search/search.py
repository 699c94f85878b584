"""Path search (GLORIA, Section 5.3): one node of each pool, so that the path has the least weight."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.graph import Ending, Graph
from elsinore.planner.gloria.graph.nodes import PoolNode
from elsinore.planner.gloria.graph.weights import evaluated, paid


@dataclass(frozen=True)
class Path:
    nodes: tuple[PoolNode, ...]
    """By pool."""
    weight: float
    broken: int
    """Number of places where a node was not generated from the one chosen before it. Two pools may require different
    nodes of a pool that both come from, which Equation 22 does not see."""


def search(graph: Graph, prices: Prices) -> Path:
    """Return the path of least weight: GLORIA PATHSEARCH (Algorithm 1)."""
    searcher = _Searcher(graph, prices)
    paths = (searcher.path(*candidate) for candidate in searcher.candidates())
    return min(paths, key=lambda path: (path.broken, path.weight))


class _Searcher:
    def __init__(self, graph: Graph, prices: Prices) -> None:
        self._graph, self._prices = graph, prices
        self._after: list[list[tuple[int, int]]] = [[] for _ in graph.pools]
        """By pool: the pools that it leads to, and its place among the pools before each."""
        for pool in graph.pools:
            for place, before in enumerate(pool.before):
                self._after[before].append((pool.stage, place))
        self._endings: list[list[Ending]] = [[] for _ in graph.pools]
        for ending in graph.endings:
            self._endings[ending.stage].append(ending)

    def candidates(self) -> list[tuple[int, PoolNode]]:
        """Return the nodes to search paths through, with their stage.

        Case 1, one end node: the node of the best edge to it. Case 2, only one path: its node. Case 3: the nodes of all
        edges to one end node.
        """
        stage = max((ending.stage for ending in self._graph.endings), key=lambda one: len(self._graph.pools[one].nodes))
        nodes = self._graph.pools[stage].nodes
        if len({ending.stage for ending in self._graph.endings}) == 1:
            nodes = [min(nodes, key=lambda node: node.distance + self.ended(node))]
        return [(stage, node) for node in nodes]

    def path(self, stage: int, end: PoolNode) -> Path:
        """Return the path through a node: on reversed edges, take the best node of each pool for the rest."""
        chosen: list[PoolNode] = [end] * len(self._graph.pools)
        weight, broken = 0.0, 0
        for pool in reversed(self._graph.pools):
            nodes = [end] if pool.stage == stage else pool.nodes
            ways = [(*self._onward(node, chosen), node) for node in nodes]
            missing, onward, node = min(ways, key=lambda way: (way[0], way[1] + way[2].distance))
            chosen[pool.stage] = node
            weight += node.inside + node.start + onward
            broken += missing
        return Path(tuple(chosen), weight, broken)

    def _onward(self, node: PoolNode, chosen: list[PoolNode]) -> tuple[int, float]:
        """Return how many edges to the nodes chosen behind a node are missing, and the weight of the others."""
        weights = [chosen[after].edges[place].get(node) for after, place in self._after[node.stage]]
        known = [weight for weight in weights if weight is not None]
        return len(weights) - len(known), sum(known) + self.ended(node)

    def ended(self, node: PoolNode) -> float:
        """Return the weight of the edges to the end nodes."""
        return sum(end_weight(self._graph, self._prices, node, ending) for ending in self._endings[node.stage])


def end_weight(graph: Graph, prices: Prices, node: PoolNode, ending: Ending) -> float:
    onward = paid(graph.template, prices, node, ending.queries) if ending.last else 0.0
    return onward + evaluated(prices, node, ending.node, ending.queries, None)
