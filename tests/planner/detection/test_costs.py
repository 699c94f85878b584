"""Costs by hand, and costs that a search keeps up to date."""

from __future__ import annotations

from math import comb, factorial
from random import Random

import pytest

from elsinore.planner.detection.costs.cardinality import by_extensions, lists
from elsinore.planner.detection.costs.engine import Engine, EngineNanoseconds
from elsinore.planner.detection.costs.model import triggers
from elsinore.planner.detection.costs.paper import Instances, Prices, Processing
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.local.orders import best_order
from elsinore.planner.detection.local.pricing import Pricing
from elsinore.planner.detection.mpt import MultiPatternTree
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, sequence
from elsinore.planner.detection.search.neighbourhoods import VertexNeighbourhood
from elsinore.planner.detection.search.opportunities import Opportunities
from elsinore.planner.detection.search.solution import Solution
from elsinore.planner.detection.search.spaces import OrderSpace, TreeSpace
from elsinore.planner.detection.shape import shape_of
from elsinore.planner.detection.statistics import Statistics
from tests.planner.detection.workloads import conj, events, paper, random_workload, seq

STATISTICS = Statistics({"A": 1.0, "B": 2.0, "C": 3.0}, {"A.v < C.v": 0.1})
PREDICATE = Condition(("A", "C"), "$0.v < $1.v")


def test_cost_of_an_order() -> None:
    """W = 10: A 10; A, B 10 * 20 / 2; A, B, C 10 * 20 * 30 / 4 * 0.1."""
    pricing = Pricing(shape_of(seq("p", "ABC", conditions=[PREDICATE])), Instances(STATISTICS))
    assert pricing.order((0, 1, 2)) == pytest.approx(10 + 100 + 150)
    assert pricing.order((0, 2, 1)) == pytest.approx(10 + 10 * 30 / 2 * 0.1 + 150)


def test_cost_of_a_tree() -> None:
    pricing = Pricing(shape_of(conj("p", "ABC", conditions=[PREDICATE])), Instances(STATISTICS))
    assert pricing.tree(((0, 2), 1)) == pytest.approx(10 + 20 + 30 + 30 + 600)


def test_processing_and_removal_of_an_event() -> None:
    """An event of C meets 10 * 20 / 2 pairs at C_a + C_v each; 0.05 of these become instances, later removed."""
    model = Processing(STATISTICS, Prices(access=1, verify=2, create=4, remove=8))
    mpt = MultiPatternTree()
    mpt.add(seq("p", "ABC", conditions=[PREDICATE]), "ABC")
    first, second, third = mpt.states()
    assert mpt.price(first, model) == pytest.approx(1.0 * 12)
    assert mpt.price(second, model) == pytest.approx(2.0 * 10 * (3 + 0.5 * 12))
    assert mpt.price(third, model) == pytest.approx(3.0 * 100 * (3 + 0.05 * 12))


def test_a_list_has_as_many_instances_as_subsets() -> None:
    assert lists(5, 1, None) == 2**5
    assert lists(5, 2, None) == 2**5 - 5
    assert lists(5, 1, 2) == 5 + comb(5, 2)
    assert lists(1e9, 1, None) < float("inf")
    asked = [Event("A", "A"), Event("B", "B", kind=Kind.KLEENE, most=None)]
    pricing = Pricing(shape_of(sequence("p", asked, Window(2))), Instances(STATISTICS))
    assert pricing.leaf(1) == 2**4


def test_a_list_comes_last_and_a_not_after_its_neighbours() -> None:
    listed = Event("K", "A", kind=Kind.KLEENE, most=None)
    shape = shape_of(sequence("p", [listed, Event("x", "B"), Event("y", "B")], Window(10)))
    assert shape.names(best_order(Pricing(shape, Instances(STATISTICS)))) == ("x", "y", "K")
    asked = [listed, Event("n", "C", kind=Kind.NEGATED), Event("x", "B"), Event("y", "B")]
    shape = shape_of(sequence("p", asked, Window(10)))
    order = shape.names(best_order(Pricing(shape, Instances(STATISTICS))))
    assert order.index("n") > max(order.index("K"), order.index("x"))


def test_the_part_of_orders_that_a_structure_allows() -> None:
    whole = shape_of(seq("p", "ABCDE"))
    assert by_extensions()(whole, whole.whole) == pytest.approx(1 / factorial(5))
    free = shape_of(conj("p", "ABCDE"))
    assert by_extensions()(free, free.whole) == 1
    vee = Pattern("p", tuple(events("ABC")), frozenset({("A", "C"), ("B", "C")}), (), Window(1))
    assert by_extensions()(shape_of(vee), 7) == pytest.approx(1 / 3)


def test_the_engine_stores_what_many_use_and_searches_what_is_large() -> None:
    statistics = Statistics({"A": 10.0, "B": 10.0}, {"A.v < B.v": 0.001})
    model = Engine(statistics, EngineNanoseconds(again=1.0))

    def costs(pattern: Pattern) -> tuple[float, float]:
        shape = shape_of(pattern)
        joined, left, right = (model.facts(shape, mask, pattern.window) for mask in (3, 1, 2))
        asked = triggers(shape, 1, 2, left, right)
        return model.stored(joined, left, right, asked), model.searched(joined, left, right)

    stored, searched = costs(conj("p", "AB", 10, [Condition(("A", "B"), "$0.v < $1.v")]))
    assert searched < stored < 2 * searched
    stored, searched = costs(conj("q", "AB", 10))
    assert stored > searched


@pytest.mark.parametrize("space", [TreeSpace, OrderSpace])
@pytest.mark.parametrize("seed", range(6))
def test_costs_are_kept_up_to_date(seed: int, space: type[TreeSpace] | type[OrderSpace]) -> None:
    """A hundred moves, each computed by the nodes that it changes, cost what the last solution costs."""
    rng = Random(seed)
    patterns, statistics = random_workload(rng, 6, 4)
    graph = MultiPatternGraph(patterns)
    chances = Opportunities(graph, [pattern.name for pattern in patterns], space.least)
    for model in (Instances(statistics), Engine(statistics)):
        made = space(chances.shapes, model)
        solution = Solution(made, [made.best(pattern) for pattern in range(6)])
        moves = 0
        for _ in range(100):
            neighbour = VertexNeighbourhood(3).random(solution, chances, rng)
            if neighbour is not None:
                signature = solution.signature_of(neighbour, solution.signature)
                solution.move(neighbour)
                assert solution.signature == signature
                moves += 1
        assert moves > 20
        assert solution.cost == pytest.approx(Solution(made, solution.plans).cost)


def test_windows_of_shared_nodes_are_the_largest() -> None:
    patterns = [seq("p1", "AB", 10), seq("p2", "ABC", 30)]
    space = TreeSpace([shape_of(one) for one in patterns], paper(A=1, B=1, C=1))
    solution = Solution(space, [space.local(0, (0, 1)), space.local(1, ((0, 1), 2))])
    assert solution.cost == pytest.approx(30 + 30 + 30 * 30 / 2 + 30 + 30**3 / 4)


def test_unknown_rates_and_selectivities_are_assumed() -> None:
    pattern = seq("p", "AB", conditions=[Condition(("A", "B"), "$0.v < $1.v")])
    assert Instances(Statistics()).facts(shape_of(pattern), 3, pattern.window).matches == 10 * 10 / 2 / 2


def test_windows_of_events_last_as_long_as_their_events_take() -> None:
    statistics = Statistics({"A": 1.0, "B": 3.0})
    assert statistics.seconds(Window(8, "events")) == 2.0
    assert statistics.seconds(Window(8)) == 8.0
