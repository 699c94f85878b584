"""The GLORIA graph: what is in it, and the path of least weight."""

from __future__ import annotations

from itertools import product
from math import inf
from random import Random

import pytest

from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.graph.graph import Graph, Policy, graph_of
from elsinore.planner.gloria.graph.nodes import PoolNode
from elsinore.planner.gloria.optimizers import GREEDY, PRUNED, UNPRUNED
from elsinore.planner.gloria.search.search import end_weight, search
from tests.planner.gloria.workloads import nodes, optimized, template


def test_a_node_with_fewer_snapshots_that_is_farther_prunes_nobody() -> None:
    made = template(*["SEQ(A, B, C, D)"] * 2)
    found = nodes(optimized(made, {"A": 10, "B": 1, "C": 10, "D": 10}))["B-C"]
    assert (found["(1,2)^A"].distance, found["(1,2)^B"].distance) == (30, 40)
    assert {node.verdict for node in found.values()} == {"keep"}


def test_neither_does_one_in_a_loop() -> None:
    """The nearest has six snapshots; the one with five is farther, for it is behind a type of a hundred events."""
    made = template(*["SEQ(SEQ(A, B, C)+, D)"] * 4)
    found = nodes(optimized(made, {"A": 5, "B": 6, "C": 100}, "gloria"))["A-B,B-C,C-A"]
    assert found["(1,2,3,4)^A"].distance > found["(1,2,3,4)^B"].distance
    assert {name for name, node in found.items() if node.beaten_by} == {"(1,2,3,4)^C"}


def test_local_snapshots_only_where_they_are_fewer() -> None:
    """PoolNode Generation Principle 2: of two Q-sets the one with more snapshots is begun anew, the other is reused."""
    made = template(*["SEQ(A, C, D, E)"] * 2, *["SEQ(B, C, D, E)"] * 2)
    found = nodes(optimized(made, {"A": 2, "B": 50, "C": 10, "D": 5, "E": 5}, "gloria-noprune"))
    assert {"(1,2)^A (3,4)^B", "(1,2)^A (3,4)^C", "(1,2,3,4)^C"} <= found["C-D"].keys()
    assert {"(1,2)^A (3,4)^B", "(1,2)^A (3,4)^D", "(1,2,3,4)^D"} <= found["D-E"].keys()
    assert "(1,2)^D (3,4)^B" not in found["D-E"]


def test_all_of_a_loop_have_the_snapshots_of_one_node_wherever_they_come_from() -> None:
    made = template(*["SEQ(X, SEQ(A, B)+)"] * 2, *["SEQ(Y, SEQ(A, B)+)"] * 2, "SEQ(A, B)+")
    assert list(nodes(optimized(made, {}, "gloria-noprune"))["A-B,B-A"]) == [
        "(1,2,3,4,5)^A",
        "(1,2,3,4,5)^B",
        "(1) (2) (3) (4) (5)",
    ]


def test_snapshots_from_before_a_loop_go_through_it_for_all_queries_or_none() -> None:
    made = template(*["SEQ(X, SEQ(A, B)+)"] * 2)
    assert "(1,2)^X" in nodes(optimized(made, {}))["A-B,B-A"]
    made = template(*["SEQ(X, SEQ(A, B)+)"] * 2, "SEQ(A, B)+")
    assert "(1,2)^X (3)" not in nodes(optimized(made, {"X": 100}))["A-B,B-A"]


def test_a_pool_has_no_more_nodes_than_that() -> None:
    made = template(*(f"SEQ(P{number}, C, D, E, F)" for number in range(12)))
    prices = Prices(made, PaperCost(Statistics({f"P{number}": number + 1.0 for number in range(12)})))
    sizes = [len(pool.nodes) + len(pool.dropped) for pool in graph_of(made, prices, PRUNED).pools]
    assert 10 < max(sizes) <= PRUNED.most
    assert 200 < max(len(pool.nodes) for pool in graph_of(made, prices, UNPRUNED).pools) <= UNPRUNED.most


@pytest.mark.parametrize("policy", [PRUNED, UNPRUNED, GREEDY])
@pytest.mark.parametrize("behind", ["C, D", "SEQ(A, B)+, C", "NOT X, C, SEQ(A, B)+"])
def test_queries_from_many_pools(behind: str, policy: Policy) -> None:
    """However many nodes are left out, what is there already may go on: no pool is empty."""
    made = template(*(f"SEQ(Q{number % 7}, P{number}, {behind})" for number in range(40)), f"SEQ(P1, {behind})")
    counts = {f"P{number}": 41.0 - number for number in range(40)}
    graph = graph_of(made, Prices(made, PaperCost(Statistics(counts))), policy)
    assert all(pool.nodes for pool in graph.pools)


@pytest.mark.parametrize("seed", range(40))
def test_the_path_is_the_lightest_of_all(seed: int) -> None:
    """Where pools come together and do not part, Equation 22 counts nothing twice."""
    random = Random(seed)
    whole = "ABCDEF"
    suffixes = [list(whole[random.randrange(3) :]) for _ in range(3)]
    queries = [[f"P{number}", *types] if random.random() < 0.5 else types for number, types in enumerate(suffixes)]
    made = template(*(f"SEQ({', '.join(query)})" for query in queries))
    prices = Prices(made, PaperCost(Statistics({kind: float(random.choice((1, 3, 10, 30, 100))) for kind in whole})))
    graph = graph_of(made, prices, UNPRUNED)
    found = search(graph, prices)
    assert not found.broken
    assert found.weight == pytest.approx(min(weight(graph, prices, path) for path in paths(graph)))


def paths(graph: Graph) -> list[tuple[PoolNode, ...]]:
    return list(product(*(pool.nodes for pool in graph.pools)))


def weight(graph: Graph, prices: Prices, path: tuple[PoolNode, ...]) -> float:
    """P.w; without an edge there is no path."""
    inside = sum(node.inside + node.start for node in path)
    edges = sum(
        some.get(path[before], inf)
        for pool, node in zip(graph.pools, path, strict=True)
        for before, some in zip(pool.before, node.edges, strict=True)
    )
    return inside + edges + sum(end_weight(graph, prices, path[one.stage], one) for one in graph.endings)
