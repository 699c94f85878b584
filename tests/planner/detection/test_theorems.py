"""Theorems 4.1 and C.1, and what the search finds, against all plans of small workloads."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.local.orders import best_order
from elsinore.planner.detection.local.pricing import Pricing
from elsinore.planner.detection.local.trees import best_tree
from elsinore.planner.detection.mpm import MultiPatternMultitree, tree_of
from elsinore.planner.detection.mpt import MultiPatternTree
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.search.heuristics import HillClimbing, MetaHeuristic, SimulatedAnnealing, TabuSearch
from elsinore.planner.detection.search.neighbourhoods import EdgeNeighbourhood, Neighbourhood, VertexNeighbourhood
from elsinore.planner.detection.search.searching import Search, searched
from elsinore.planner.detection.shape import shape_of
from tests.planner.detection.exhaustive import (
    cheapest,
    leaves,
    multi_cost,
    order_nodes,
    orders,
    subtrees,
    tree_key,
    tree_nodes,
    trees,
)
from tests.planner.detection.workloads import random_workload

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_4_1(seed: int) -> None:
    """Each path of an optimal MPT is the best order that starts with the prefix that it shares."""
    patterns, statistics = random_workload(Random(seed), 3, 3, "ABCD")
    every = [[(order, order_nodes(pattern, order)) for order in orders(pattern)] for pattern in patterns]
    _, choice = cheapest(patterns, [[nodes for _, nodes in plans] for plans in every], statistics)
    best = [plans[one] for plans, one in zip(every, choice, strict=True)]
    for place, (pattern, (order, nodes)) in enumerate(zip(patterns, best, strict=True)):
        others = {node for at, (_, theirs) in enumerate(best) if at != place for node in theirs}
        shared = max((len(names) for node, names in nodes.items() if node in others), default=0)
        pricing = Pricing(shape_of(pattern), Instances(statistics))
        numbers = tuple(shape_of(pattern).number[name] for name in order)
        found = best_order(pricing, numbers[:shared])
        assert found[:shared] == numbers[:shared]
        assert pricing.order(found) == pytest.approx(pricing.order(numbers)), (seed, pattern.name)


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_c_1(seed: int) -> None:
    """Each tree of an optimal MPM is the best one that contains the subtrees that it shares."""
    patterns, statistics = random_workload(Random(seed), 3, 4, "ABCDE")
    every = [[(tree, tree_nodes(one, tree)) for tree in trees([e.name for e in one.events])] for one in patterns]
    _, choice = cheapest(patterns, [[nodes for _, nodes in plans] for plans in every], statistics)
    best = [plans[one] for plans, one in zip(every, choice, strict=True)]
    for place, (pattern, (tree, _)) in enumerate(zip(patterns, best, strict=True)):
        others = {node for at, (_, theirs) in enumerate(best) if at != place for node in theirs}
        shared = [one for one in subtrees(tree) if tree_key(pattern, one) in others]
        largest = [one for one in shared if not any(leaves(one) < leaves(other) for other in shared)]
        pricing = Pricing(shape_of(pattern), Instances(statistics))
        given = [tree_of(pattern, one) for one in largest]
        assert pricing.tree(best_tree(pricing, given)) == pytest.approx(pricing.tree(tree_of(pattern, tree))), seed


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_of_global_plans_are_those_of_the_definition(seed: int) -> None:
    rng = Random(seed)
    patterns, statistics = random_workload(rng, 4, 4)
    model = Instances(statistics)
    mpm, mpt = MultiPatternMultitree(), MultiPatternTree()
    in_trees, in_orders = [], []
    for pattern in patterns:
        tree = rng.choice(list(trees([event.name for event in pattern.events])))
        order = rng.choice(list(orders(pattern)))
        mpm.add(pattern, tree_of(pattern, tree))
        mpt.add(pattern, order)
        in_trees.append(tree_nodes(pattern, tree))
        in_orders.append(order_nodes(pattern, order))
    assert mpm.cost(model) == pytest.approx(multi_cost(patterns, in_trees, statistics))
    assert mpt.cost(model) == pytest.approx(multi_cost(patterns, in_orders, statistics))
    assert len(list(mpm.nodes())) == len({node for nodes in in_trees for node in nodes})
    assert len(list(mpt.states())) == len({node for nodes in in_orders for node in nodes})


@cache
def best_of_trees(seed: int) -> float:
    patterns, statistics = random_workload(Random(seed), 3, 4, "ABCDE")
    every = [[tree_nodes(one, tree) for tree in trees([event.name for event in one.events])] for one in patterns]
    return cheapest(patterns, every, statistics)[0]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("neighbourhood", [EdgeNeighbourhood(), VertexNeighbourhood(3)], ids=["edge", "vertex"])
@pytest.mark.parametrize("heuristic", [SimulatedAnnealing(), TabuSearch(), HillClimbing()], ids=["sa", "tabu", "hill"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_comes_close_to_the_best_of_all_trees(
    seed: int, heuristic: MetaHeuristic, neighbourhood: Neighbourhood
) -> None:
    patterns, statistics = random_workload(Random(seed), 3, 4, "ABCDE")
    best = best_of_trees(seed)
    found = searched(
        MultiPatternGraph(patterns),
        Instances(statistics),
        Search("trees", heuristic, neighbourhood),
        Budget(steps=3000),
        seed,
    )
    assert best <= found.cost * (1 + 1e-9)
    assert found.cost <= min(found.start, 1.02 * best) * (1 + 1e-9)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_search_comes_close_to_the_best_of_all_orders(seed: int) -> None:
    patterns, statistics = random_workload(Random(seed), 3, 4, "ABCDE")
    every = [[order_nodes(pattern, order) for order in orders(pattern)] for pattern in patterns]
    best, _ = cheapest(patterns, every, statistics)
    edge = Search("orders", SimulatedAnnealing(), EdgeNeighbourhood())
    found = searched(MultiPatternGraph(patterns), Instances(statistics), edge, Budget(steps=3000), seed)
    assert best <= found.cost * (1 + 1e-9)
    assert found.cost <= min(found.start, 1.02 * best) * (1 + 1e-9)


def test_the_trees_found_by_themselves_are_the_best_of_all() -> None:
    patterns, statistics = random_workload(Random(99), 12, 5, "ABCDEFG")
    for pattern in patterns:
        pricing = Pricing(shape_of(pattern), Instances(statistics))
        names = [event.name for event in pattern.events]
        every = (multi_cost([pattern], [tree_nodes(pattern, tree)], statistics) for tree in trees(names))
        assert pricing.tree(best_tree(pricing)) == pytest.approx(min(every))
        ordered = (multi_cost([pattern], [order_nodes(pattern, order)], statistics) for order in orders(pattern))
        assert pricing.order(best_order(pricing)) == pytest.approx(min(ordered))


def test_a_plan_has_the_cost_of_what_was_found() -> None:
    patterns, statistics = random_workload(Random(5), 6, 4)
    model = Instances(statistics)
    plan = detection_plan(patterns, model, "mpm", Budget(steps=500))
    again = detection_plan(patterns, model, "mpm", Budget(steps=500))
    assert plan == again
    assert plan.cost == pytest.approx(sum(node.matches for node in plan.nodes))
