"""The search as a whole: components apart, each from the cheapest of several starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.search.budget import Budget, Meter
from elsinore.planner.detection.search.heuristics import MetaHeuristic
from elsinore.planner.detection.search.neighbourhoods import Neighbourhood
from elsinore.planner.detection.search.opportunities import Opportunities
from elsinore.planner.detection.search.solution import Solution
from elsinore.planner.detection.search.spaces import OrderSpace, Space, TreeSpace
from elsinore.planner.detection.shape import Shape
from elsinore.planner.detection.subtrees import Tree

SPACES: dict[Literal["orders", "trees"], Callable[[Sequence[Shape], CostModel], Space]] = {
    "orders": OrderSpace,
    "trees": TreeSpace,
}


@dataclass(frozen=True)
class Search:
    """How the space of plans is searched."""

    plans: Literal["orders", "trees"]
    heuristic: MetaHeuristic
    neighbourhood: Neighbourhood


@dataclass(frozen=True)
class Found:
    """What a search found."""

    trees: dict[str, Tree]
    """By pattern."""
    cost: float
    start: float
    """The cost of the solution that it began with."""
    steps: int


def searched(
    graph: MultiPatternGraph,
    model: CostModel,
    search: Search,
    budget: Budget,
    seed: int = 0,
    starts: Sequence[Mapping[str, Tree]] = (),
) -> Found:
    """Return the cheapest plans found. It begins with the best local plans, or with a start that is cheaper."""
    make = SPACES[search.plans]
    least = OrderSpace.least if search.plans == "orders" else TreeSpace.least
    parts = [Opportunities(graph, names, least) for names in graph.components(least)]
    whole = sum(len(part.edges) for part in parts)
    found = []
    for number, part in enumerate(parts):
        share = budget.part(len(part.edges) / whole) if whole else budget
        rng = Random(f"{seed} {number}")
        found.append(_component(make(part.shapes, model), part, search, share, rng, starts))
    trees = {name: tree for one in found for name, tree in one.trees.items()}
    return Found(
        {name: trees[name] for name in graph.shapes},
        sum(one.cost for one in found),
        sum(one.start for one in found),
        sum(one.steps for one in found),
    )


def _component(
    space: Space, part: Opportunities, search: Search, budget: Budget, rng: Random, starts: Sequence[Mapping[str, Tree]]
) -> Found:
    solution = _start(space, part, starts)
    start, meter = solution.cost, Meter(budget)
    if not part.edges:
        return Found(_trees(part, [plan.tree for plan in solution.plans]), start, start, 0)
    best = search.heuristic.search(solution, lambda: search.neighbourhood.random(solution, part, rng), meter, rng)
    plans = Solution(space, best.plans)
    return Found(_trees(part, [plan.tree for plan in plans.plans]), plans.cost, start, meter.steps)


def _start(space: Space, part: Opportunities, starts: Sequence[Mapping[str, Tree]]) -> Solution:
    """Return the cheapest of the best local plans and the given ones."""
    local = [space.best(pattern) for pattern in range(len(space.shapes))]
    given = [[space.local(x, one[name]) for x, name in enumerate(part.names)] for one in starts]
    return min((Solution(space, plans) for plans in (local, *given)), key=lambda solution: solution.cost)


def _trees(part: Opportunities, trees: Sequence[Tree]) -> dict[str, Tree]:
    return dict(zip(part.names, trees, strict=True))
