"""The cost of a sharing plan by a cost model, either the one that it was found with or another."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.search.choices import Choice, cost_of
from elsinore.planner.gloria.search.segments import Segment, Space, space_of
from elsinore.planner.gloria.templates.template import Template


def cost_of_plan(plan: SharingPlan, model: CostModel) -> float:
    space = space_of(plan.template, Prices(plan.template, model))
    return cost_of(space, [tuple(_segments(plan, space, query)) for query in range(len(plan.template.routes))])


def cost_apart(template: Template, model: CostModel) -> float:
    """Return the cost of all queries of a template if none shares anything."""
    nobody: list[Choice] = [()] * len(template.routes)
    return cost_of(space_of(template, Prices(template, model)), nobody)


def _segments(plan: SharingPlan, space: Space, query: int) -> Iterator[Segment]:
    """Yield the runs of stages at which a query has the same snapshots, from their creation to where it leaves."""
    sets = [plan.q_set(query, stage) for stage in plan.template.routes[query].stages]
    for first, one in enumerate(sets):
        if one.local:
            run = next(
                run for run in space.runs[query] if (run.first, run.segments[0].snapshot) == (first, one.snapshot)
            )
            reused = (place for place in range(first + 1, len(sets)) if not sets[place].shared or sets[place].local)
            yield run.segments[next(reused, len(sets)) - first - 1]
