"""GLORIA's sharing optimizers, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from elsinore.planner.a_seq.plans import ChopConnect, PrefixTree
from elsinore.planner.gloria.costs.cost import CostModel, PaperCost
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.graph import Graph, Policy, graph_of
from elsinore.planner.gloria.graph.recording import record_of
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.search.choices import Choice, cost_of, q_sets_of
from elsinore.planner.gloria.search.following import choices_along
from elsinore.planner.gloria.search.improve import Settler
from elsinore.planner.gloria.search.prove import proved
from elsinore.planner.gloria.search.search import search
from elsinore.planner.gloria.search.segments import Space, space_of
from elsinore.planner.gloria.templates.build import templates
from elsinore.planner.gloria.templates.template import Template
from elsinore.planner.plans.model import QueryPlan


class GloriaOptimizer(Protocol):
    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        """Return a plan for the queries of a template; it is the same whenever the arguments are."""
        ...


@dataclass(frozen=True)
class PathSearch:
    """An optimizer that builds a GLORIA graph and finds the path of least weight in it."""

    name: str
    policy: Policy
    settles: bool = True
    """True to look for cheaper plans that no path represents."""

    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        prices = Prices(template, model)
        return self.plan_of(graph_of(template, prices, self.policy), prices)

    def plan_of(self, graph: Graph, prices: Prices) -> SharingPlan:
        """Return the plan of a graph that is already built."""
        template = graph.template
        path = search(graph, prices)
        space = space_of(template, prices)
        choices, certain = _settled(space, choices_along(template, space, path.nodes), self.settles)
        q_sets = q_sets_of(template, choices)
        return SharingPlan(
            template,
            self.name,
            q_sets,
            cost_of(space, choices),
            cost_of(space, [()] * len(choices)),
            certain,
            record_of(graph, prices, path, q_sets),
        )


def _settled(space: Space, choices: Sequence[Choice], settles: bool) -> tuple[list[Choice], bool]:
    settler = Settler(space)
    if not settles:
        return settler.mended(choices), False
    tried = (settler.settled(start) for start in (choices, settler.hopeful(), [()] * len(choices)))
    return proved(space, min(tried, key=lambda found: cost_of(space, found)))


PRUNED, UNPRUNED, GREEDY = Policy(most=16), Policy(most=256, prunes=False), Policy(most=16, greedy=True)
"""Limits of the three graphs. Without pruning a pool grows as the product of the pools before it, so it needs one."""

OPTIMIZERS: dict[str, GloriaOptimizer] = {
    one.name: one
    for one in (
        PathSearch("gloria", PRUNED),
        PathSearch("gloria-noprune", UNPRUNED),
        PathSearch("gloria-greedy", GREEDY, settles=False),
        PrefixTree(),
        ChopConnect(),
    )
}


def sharing_plans(
    queries: tuple[QueryPlan, ...], model: CostModel | None = None, optimizer: str | GloriaOptimizer = "gloria"
) -> tuple[tuple[SharingPlan, ...], tuple[tuple[str, str], ...]]:
    """Return a plan for each template of a workload, and the name and reason of each query that is in none."""
    found, apart = templates(queries)
    chosen = OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer
    return tuple(chosen.plan(template, model or PaperCost()) for template in found), apart
