"""Recording of a GLORIA graph, with the plan as a path through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.graph import Graph
from elsinore.planner.gloria.graph.kleene import path_weight
from elsinore.planner.gloria.graph.nodes import Pool, PoolNode, Sharing
from elsinore.planner.gloria.graph.record import EdgeRecord, GraphRecord, NodeRecord, PoolRecord, Verdict
from elsinore.planner.gloria.graph.weights import between
from elsinore.planner.gloria.plan import QSet
from elsinore.planner.gloria.search.search import Path, end_weight


def record_of(graph: Graph, prices: Prices, path: Path, q_sets: Sequence[Sequence[QSet]]) -> GraphRecord:
    recorder = _Recorder(graph, prices, [_sharing(some) for some in q_sets], path)
    pools = tuple(map(recorder.pool, graph.pools))
    return GraphRecord(pools, (*recorder.edges(), *recorder.ends()), path.weight)


def _sharing(q_sets: Sequence[QSet]) -> Sharing:
    shared = sorted((one.queries, one.snapshot) for one in q_sets if one.snapshot is not None)
    return tuple(shared), sum(one.queries for one in q_sets if not one.shared)


@dataclass
class _Recorder:
    _graph: Graph
    _prices: Prices
    _plan: list[Sharing]
    _path: Path

    def __post_init__(self) -> None:
        """Find the node of the plan in each pool, and make it where the graph has none."""
        numbers = count(1 + max(node.number for pool in self._graph.pools for node in (*pool.nodes, *pool.dropped)))
        self._chosen: list[PoolNode] = []
        self._made: set[PoolNode] = set()
        self._verdicts: dict[PoolNode, Verdict] = {}
        for pool in self._graph.pools:
            known = [node for node in (*pool.nodes, *pool.dropped) if node.sharing == self._plan[pool.stage]]
            node = known[0] if known else self._settled(pool, next(numbers))
            if not known:
                self._made.add(node)
            if not known or node in pool.dropped:
                self._verdicts[node] = "settled"
            self._chosen.append(node)

    def pool(self, pool: Pool) -> PoolRecord:
        return PoolRecord(pool.stage, tuple(map(self._node, self._nodes(pool))))

    def edges(self) -> Iterator[EdgeRecord]:
        for pool in self._graph.pools:
            for node in self._nodes(pool):
                on_plan = node is self._chosen[pool.stage]
                if node.start:
                    yield EdgeRecord(None, _name(node), node.start, False, on_plan)
                for before, some, best in zip(pool.before, node.edges, node.best, strict=True):
                    planned = self._chosen[before]
                    for source, weight in some.items():
                        chosen = on_plan and source is planned
                        pruned, settled = source is not best and not chosen, node in self._made
                        yield EdgeRecord(_name(source), _name(node), weight, pruned, chosen, settled)
                    if on_plan and planned not in some:
                        yield EdgeRecord(_name(planned), _name(node), self._weight(planned, node), False, True, True)

    def ends(self) -> Iterator[EdgeRecord]:
        for ending in self._graph.endings:
            pool = self._graph.pools[ending.stage]
            for node in self._nodes(pool):
                chosen = node is self._chosen[ending.stage]
                if chosen or node not in pool.dropped:
                    weight = end_weight(self._graph, self._prices, node, ending)
                    yield EdgeRecord(_name(node), ending.queries, weight, False, chosen)

    def _nodes(self, pool: Pool) -> list[PoolNode]:
        generated = {*pool.nodes, *pool.dropped, self._chosen[pool.stage]}
        return sorted(generated, key=lambda node: node.number)

    def _node(self, node: PoolNode) -> NodeRecord:
        shared, alone = node.sharing
        sets = (*shared, (alone, None)) if alone else shared
        beaten_by = None if node.beaten_by is None else _name(node.beaten_by)
        verdict = self._verdicts.get(node, node.verdict)
        return NodeRecord(_name(node), sets, node.distance, verdict, beaten_by, node is self._chosen[node.stage])

    def _settled(self, pool: Pool, number: int) -> PoolNode:
        """Return a node that no principle generated, with the distance from the start nodes that it has on the plan."""
        sharing = self._plan[pool.stage]
        stage = self._graph.template.stages[pool.stage]
        inside = path_weight(stage, self._prices, sharing) if stage.kleene else 0.0
        start = max((node.start for node in (*pool.nodes, *pool.dropped)), default=0.0)
        node = PoolNode(pool.stage, sharing, number, 0.0, inside, (), start)
        before = [self._chosen[one] for one in pool.before]
        weights = [self._weight(one, node) for one in before]
        node.edges = tuple({one: weight} for one, weight in zip(before, weights, strict=True))
        node.distance = start + inside + sum(one.distance for one in before) + sum(weights)
        return node

    def _weight(self, before: PoolNode, node: PoolNode) -> float:
        """Return the weight of an edge between two nodes of the plan."""
        common = self._graph.pools[node.stage].before[before.stage]
        return between(self._graph.template, self._prices, before, node, common)


def _name(node: PoolNode) -> str:
    return f"n{node.number}"
