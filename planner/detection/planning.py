"""Plans of workloads, by the name of a strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.mpm import MultiPatternMultitree
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan, frozen
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.strategies.request import Request
from elsinore.planner.detection.strategies.strategies import STRATEGIES, Strategy
from elsinore.planner.detection.subtrees import Tree

THINKING = Budget(seconds=2.0)
"""The budget of a search unless one is given."""


def detection_plan(
    patterns: Sequence[Pattern],
    model: CostModel,
    strategy: str | Strategy = "mpm",
    budget: Budget = THINKING,
    seed: int = 0,
) -> DetectionPlan:
    """Return a strategy's plan for a workload."""
    chosen = STRATEGIES[strategy] if isinstance(strategy, str) else strategy
    trees = chosen.trees(Request(tuple(patterns), model, budget, seed))
    return plan_of_trees(patterns, trees, model, chosen)


def plan_of_trees(
    patterns: Sequence[Pattern], trees: Mapping[str, Tree], model: CostModel, strategy: Strategy
) -> DetectionPlan:
    """Return the plan in which each pattern has a given tree."""
    multitree = MultiPatternMultitree(apart=not strategy.shares)
    for pattern in patterns:
        multitree.add(pattern, trees[pattern.name])
    unshared = MultiPatternMultitree(apart=True)
    for pattern in patterns:
        unshared.add(pattern, trees[pattern.name])
    return frozen(strategy.name, multitree, model, unshared.cost(model), strategy.ordered)
