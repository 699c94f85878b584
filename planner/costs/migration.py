"""The decision whether another plan is worth the change (GLORIA, Section 7.2: reconfiguration costs).

The search for a plan costs the engine nothing, because it runs elsewhere. A change costs one window of the old plan's
work: both plans run side by side until the windows that the old one has begun are over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from elsinore.planner.costs.plan_model import cost_of
from elsinore.planner.costs.workload_costs import WorkloadCosts
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.pricing import cost_apart, cost_of_plan
from elsinore.planner.gloria.templates.build import template_of
from elsinore.planner.gloria.templates.chains import chain_of
from elsinore.planner.plans.kinds import PLANNED
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.parts import parts_of, run_alike
from elsinore.planner.plans.sharing import Member


@dataclass(frozen=True)
class Migration:
    gain: float
    """Cost per window of the old plan, less that of the new plan."""
    cost: float

    def pays(self, windows: float) -> bool:
        """Return whether the gain over so many windows exceeds the cost."""
        return self.gain * windows > self.cost


def migration(running: Plan, candidate: Plan, model: CostModel) -> Migration:
    """Return the migration between two plans of the same queries; parts in common go on, and cost nothing."""
    before, after = parts_of(running), parts_of(candidate)
    price = _price((*running.queries, *candidate.queries), model)
    old, new = (sum(map(price, some)) for some in (_only(before, after), _only(after, before)))
    return Migration(old - new, old)


def _only(parts: Iterable[Plan], others: tuple[Plan, ...]) -> Iterable[Plan]:
    return (part for part in parts if not any(run_alike(part, other) for other in others))


def _price(queries: tuple[QueryPlan, ...], model: CostModel) -> Callable[[Plan], float]:
    """Return a function that prices a part; this engine's model knows all kinds, and the events of all queries."""
    if isinstance(model, EngineCost):
        costs = WorkloadCosts.of(queries, model)
        return lambda part: cost_of(dict(enumerate(part.queries)), part.share_sets, costs)
    return lambda part: cost_of_part(part, model)


def cost_of_part(part: Plan, model: CostModel) -> float:
    """Return the cost of a part for a window, by a model of sharing plans alone.

    HAMLET shares a burst only where that is cheaper, so its share sets cost at most as much as their queries apart.
    Queries that no sharing plan can have cost nothing here: every plan runs them in the same way.
    """
    planned = PLANNED.among(part.share_sets)
    inside = {member.query for one in planned for member in one.members}
    apart = (_apart(query, model) for number, query in enumerate(part.queries) if number not in inside)
    return sum(cost_of_plan(one.plan, model) for one in planned) + sum(apart)


def _apart(query: QueryPlan, model: CostModel) -> float:
    chain = chain_of(query, query.counters[0])
    return cost_apart(template_of((query,), {Member(0, 0): chain}), model) if chain else 0.0
