"""Where the paper claims that no better plan is lost, and one is: each with its numbers."""

from __future__ import annotations

import pytest

from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.graph.graph import graph_of
from elsinore.planner.gloria.optimizers import UNPRUNED
from elsinore.planner.gloria.search.search import search
from elsinore.planner.gloria.templates.template import Template
from tests.planner.gloria.every_plan import cheapest
from tests.planner.gloria.workloads import nodes, optimized, sharing, template


def unpruned_path(made: Template, counts: dict[str, float]) -> float:
    """The least weight of any path in the graph that has all that Section 5.1 generates."""
    prices = Prices(made, PaperCost(Statistics(counts)))
    path = search(graph_of(made, prices, UNPRUNED), prices)
    assert not path.broken
    return path.weight


@pytest.mark.parametrize(
    ("queries", "counts", "path", "cost", "shared"),
    [
        pytest.param(
            ["ABC", "BCD", "ABCD"],
            {"A": 1, "B": 10, "C": 20, "D": 3},
            326,
            323,
            {"A-B": "(1,3)^A", "B-C": "(1)^A (2,3)^B", "C-D": "(2,3)^B"},
            id="Lemma 5.2: a Q-set that is split, its halves with other snapshots",
        ),
        pytest.param(
            ["ABCD", "ABCD"],
            {"A": 10, "B": 20, "C": 2, "D": 10},
            312,
            310,
            {"A-B": "(1,2)^A", "B-C": "(1,2)^A", "C-D": "(1) (2)"},
            id="Section 5.1: a Q-set that is given up",
        ),
        pytest.param(
            ["ABD", "ABCE"],
            {"A": 10, "B": 20, "C": 5, "D": 1, "E": 2},
            510,
            500,
            {"A-B": "(1,2)^A", "B-D": "(1)^A", "B-C": "(2)^A", "C-E": "(2)"},
            id="Section 5.1: a query that is left alone with an expression",
        ),
    ],
)
def test_no_path_is_as_cheap_as_the_plan(
    queries: list[str], counts: dict[str, float], path: float, cost: float, shared: dict[str, str]
) -> None:
    made = template(*(f"SEQ({', '.join(query)})" for query in queries))
    plan = optimized(made, counts)
    assert unpruned_path(made, counts) == path
    assert plan.cost == cheapest([tuple(query) for query in queries], counts) == cost
    assert sharing(plan) == shared
    assert any(edge.settled and edge.chosen for edge in plan.graph.edges)


def test_lemma_5_11_a_pruned_node_that_is_on_the_cheapest_plan() -> None:
    """Table 4, where the queries end with B: its snapshots are values then, those of A have to be evaluated.

    n1 with A costs 115 and 2 · 10 · 5, n2 with B costs 120.
    """
    plan = optimized(template(*["SEQ(A, B)+"] * 2), {"A": 5, "B": 10})
    found = nodes(plan)["A-B,B-A"]
    assert found["(1,2)^B"].beaten_by == found["(1,2)^A"].name
    assert sharing(plan) == {"A-B,B-A": "(1,2)^B"}
    assert plan.cost == 120
    assert found["(1,2)^B"].verdict == "settled"


def test_equation_22_pools_of_two_minds() -> None:
    """Two pools come from one, and a third from both: they may want other nodes of the first.

    Then no path has the weight that the distances promise: what it stands for is settled, at its true cost.
    """
    made = template("SEQ(A, B, D, E)", "SEQ(A, B, C, D, E)")
    counts = {"A": 5.0, "B": 5.0, "C": 1.0, "D": 30.0, "E": 2.0}
    prices = Prices(made, PaperCost(Statistics(counts)))
    assert search(graph_of(made, prices, UNPRUNED), prices).broken
    assert optimized(made, counts).cost == cheapest([tuple("ABDE"), tuple("ABCDE")], counts) == 320
