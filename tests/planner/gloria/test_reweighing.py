"""Kept graphs have the weights that new ones would have; and plans have a price by any cost model."""

from __future__ import annotations

import pytest

from elsinore.bench.gloria.workloads import statistics
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.costs.pricing import cost_apart, cost_of_plan
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.graph.graph import Graph, Policy, graph_of
from elsinore.planner.gloria.graph.reweighing import reweigh
from elsinore.planner.gloria.optimizers import OPTIMIZERS
from elsinore.planner.gloria.search.search import search
from elsinore.planner.gloria.templates.template import Template
from tests.planner.gloria.workloads import COUNTS, WORKLOADS, plans, template

ONE, OTHER = PaperCost(COUNTS), PaperCost(Statistics(statistics(2).counts, 3.0))
POLICY = Policy(most=16)
Weights = list[tuple[object, ...]]


def weights(graph: Graph) -> Weights:
    """Everything that follows from prices."""
    return [
        (
            node.number,
            node.sharing,
            node.start,
            node.inside,
            node.distance,
            [list(some.values()) for some in node.edges],
        )
        for pool in graph.pools
        for node in (*pool.nodes, *pool.dropped)
    ]


def approximate(found: object) -> object:
    """Sums of the same numbers, in another order."""
    if isinstance(found, float):
        return pytest.approx(found)
    return type(found)(map(approximate, found)) if isinstance(found, list | tuple) else found


def templates(workload: str) -> list[Template]:
    return [plan.template for plan in plans(workload, "gloria")]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_with_the_same_prices_nothing_changes(workload: str) -> None:
    for one in templates(workload):
        prices = Prices(one, ONE)
        graph = graph_of(one, prices, POLICY)
        before = weights(graph)
        assert len(before) > len(one.stages)
        reweigh(graph, prices)
        assert weights(graph) == approximate(before)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_other_prices_and_back(workload: str) -> None:
    for one in templates(workload):
        graph = graph_of(one, Prices(one, ONE), POLICY)
        before = weights(graph)
        reweigh(graph, Prices(one, OTHER))
        assert weights(graph) != approximate(before)
        reweigh(graph, Prices(one, ONE))
        assert weights(graph) == approximate(before)


def test_the_path_is_that_of_a_new_graph() -> None:
    """|A| = 5, |B| = 10, |C| = 12, |D| = 4 as in Table 3, and then as many C as there were A."""
    one = template("SEQ(A, B, C, D)", "SEQ(B, C, D)", "SEQ(A, B, C)")
    unpruned = Policy(most=256, prunes=False)
    now = Prices(one, PaperCost(Statistics({"A": 12, "B": 10, "C": 5, "D": 4})))
    kept = graph_of(one, Prices(one, PaperCost(Statistics({"A": 5, "B": 10, "C": 12, "D": 4}))), unpruned)
    before = search(kept, now).weight
    reweigh(kept, now)
    assert search(kept, now).weight == search(graph_of(one, now, unpruned), now).weight != before


@pytest.mark.one_in(4)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_plan_costs_what_its_optimizer_says(workload: str, optimizer: str) -> None:
    for plan in plans(workload, optimizer):
        assert cost_of_plan(plan, ONE) == pytest.approx(plan.cost)
        assert cost_apart(plan.template, ONE) == pytest.approx(plan.apart)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_by_another_model_no_plan_costs_less_than_the_one_found_with_it(workload: str) -> None:
    for plan in plans(workload, "gloria"):
        best = OPTIMIZERS["gloria"].plan(plan.template, OTHER)
        assert not best.proved or cost_of_plan(plan, OTHER) >= best.cost - 1e-6
