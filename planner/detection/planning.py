"""Plans of workloads, by the name of a strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from elsinore.planner.detection.costs.engine import Engine
from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.mpm import MultiPatternMultitree
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan, frozen
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.statistics import Statistics
from elsinore.planner.detection.strategies.request import Request
from elsinore.planner.detection.strategies.strategies import STRATEGIES, Strategy
from elsinore.planner.detection.subtrees import Tree

THINKING = Budget(seconds=2.0)
"""The budget of a search unless one is given."""

AUTO = "mpm"
"""The strategy that `auto` uses, with this engine's costs: nodes are stored or searched, whichever costs less."""


def plan_by_name(
    patterns: Sequence[Pattern], name: str, statistics: Statistics, budget: Budget = THINKING, seed: int = 0
) -> DetectionPlan:
    """Return the plan of `auto`, or that of another strategy, which has the paper's costs."""
    if name == "auto":
        return replace(detection_plan(patterns, Engine(statistics), AUTO, budget, seed), strategy=name)
    return detection_plan(patterns, Instances(statistics), name, budget, seed)


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
