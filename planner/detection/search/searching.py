"""The search as a whole: components apart, each from the cheapest of several starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from elsinore.planner.detection.search.spaces import Local, OrderSpace, Space, TreeSpace
from elsinore.planner.detection.subtrees import Tree

SPACES: dict[Literal["orders", "trees"], type[OrderSpace] | type[TreeSpace]] = {
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
    """What a search found. Costs are those of the whole workload, in which components share leaves."""

    trees: dict[str, Tree]
    """By pattern."""
    cost: float
    start: float
    """The cost of the solution that it began with."""
    steps: int


@dataclass(frozen=True)
class Part:
    """What was found for one component."""

    start: dict[str, Tree]
    trees: dict[str, Tree]
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
    parts = [Opportunities(graph, names, make.least) for names in graph.components(make.least)]
    edges = sum(len(part.edges) for part in parts)
    found = []
    for number, part in enumerate(parts):
        share = budget.part(len(part.edges) / edges) if part.edges else budget
        rng = Random(f"{seed} {number}")
        found.append(_component(make(part.shapes, model), part, search, share, rng, starts))
    whole = make(list(graph.shapes.values()), model)
    start = {name: tree for one in found for name, tree in one.start.items()}
    trees = {name: tree for one in found for name, tree in one.trees.items()}
    steps = sum(one.steps for one in found)
    return Found(trees, _cost(whole, trees), _cost(whole, start), steps)


def _component(
    space: Space, part: Opportunities, search: Search, budget: Budget, rng: Random, starts: Sequence[Mapping[str, Tree]]
) -> Part:
    solution = _start(space, part, starts)
    start, meter = _trees(part, solution.plans), Meter(budget)
    if not part.edges:
        return Part(start, start, 0)
    best = search.heuristic.search(solution, lambda: search.neighbourhood.random(solution, part, rng), meter, rng)
    return Part(start, _trees(part, best.plans), meter.steps)


def _start(space: Space, part: Opportunities, starts: Sequence[Mapping[str, Tree]]) -> Solution:
    """Return the cheapest of the best local plans and the given ones."""
    local = [space.best(pattern) for pattern in range(len(space.shapes))]
    given = [[space.local(x, one[name]) for x, name in enumerate(part.names)] for one in starts]
    return min((Solution(space, plans) for plans in (local, *given)), key=lambda solution: solution.cost)


def _trees(part: Opportunities, plans: Sequence[Local]) -> dict[str, Tree]:
    return {name: plan.tree for name, plan in zip(part.names, plans, strict=True)}


def _cost(space: Space, trees: Mapping[str, Tree]) -> float:
    plans = [space.local(x, trees[shape.pattern.name]) for x, shape in enumerate(space.shapes)]
    return Solution(space, plans).cost
