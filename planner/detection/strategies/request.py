"""What a strategy is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.local.pricing import Pricing
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.search.opportunities import Opportunities
from elsinore.planner.detection.shape import Shape, shape_of
from elsinore.planner.detection.subtrees import Tree

Trees = dict[str, Tree]
"""A tree for each pattern, by name."""


@dataclass(frozen=True)
class Request:
    """A workload, a cost model with its statistics, and how long to think."""

    patterns: Sequence[Pattern]
    model: CostModel
    budget: Budget
    seed: int = 0

    @cached_property
    def graph(self) -> MultiPatternGraph:
        return MultiPatternGraph(self.patterns)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(shape_of(pattern) for pattern in self.patterns)

    @cached_property
    def pricing(self) -> tuple[Pricing, ...]:
        return tuple(Pricing(shape, self.model) for shape in self.shapes)

    @cached_property
    def opportunities(self) -> Opportunities:
        """Return what any patterns may share, over all components."""
        return Opportunities(self.graph, [pattern.name for pattern in self.patterns], 2)
