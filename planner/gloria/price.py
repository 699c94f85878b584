"""The cost of a planned set in this engine, in nanoseconds for the events of the longest window."""

from __future__ import annotations

from elsinore.planner.costs.workload_costs import Counted, WorkloadCosts, types_of
from elsinore.planner.gloria.costs.work import Work
from elsinore.planner.gloria.sets import PlannedSet, steps_of_set
from elsinore.planner.hamlet.facts import numbers_of


def price_of_planned_set(planned: PlannedSet, members: Counted, costs: WorkloadCosts) -> float:
    """Return the cost of taking events and bursts in, and of the steps of the plan."""
    bursts = sum(costs.statistics.bursts(name) for name in sorted(types_of(members)))
    numbers = [numbers_of(query, counter) for query, counter in members]
    steps = steps_of_set(planned, [query for query, _ in members])
    work = Work(steps, planned.plan.template.nodes, numbers, costs.gloria, planned.bursts is not None)
    return costs.taken(members) + bursts * costs.costs.burst + work.cost()
