"""Who looks for other plans while a stream flows: the core of what may run beside the engines, on a machine of its own.

It is told of other workloads, and of what the stream is like; it answers with plans for `Engine.change`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elsinore.planner.costs.drift import Observed, drifted
from elsinore.planner.costs.migration import migration
from elsinore.planner.gloria.costs.cost import CostModel, PaperCost
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.graph.graph import Graph, graph_of
from elsinore.planner.gloria.graph.reweighing import reweigh
from elsinore.planner.gloria.optimizers import OPTIMIZERS, GloriaOptimizer, PathSearch
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.templates.template import Template
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.changing import changed
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.routes import Route, workload_along


@dataclass(frozen=True)
class Patience:
    """When to look for another plan, and when to change to it."""

    threshold: float = 2.0
    """A type that comes so many times as often, or as seldom, is worth a look."""
    windows: float = 10.0
    """Over which a change has to pay: so long, it is hoped, the stream stays as it is."""


class Replanner:
    def __init__(
        self,
        workload: Workload,
        strategy: str,
        model: Callable[[Statistics], CostModel] | None = None,
        patience: Patience = Patience(),
        seen: Observed | None = None,
        kept: bool = True,
    ) -> None:
        """`seen`: what the stream is known to be like. Graphs of templates are `kept`, to plan again sooner; what is
        pruned in them stays pruned, so that plans depend on what was seen before."""
        self.workload = workload
        self.strategy = strategy
        self._model = model or (EngineCost if strategy == "auto" else PaperCost)
        self._patience = patience
        self._optimizer = _keeping(strategy) if kept else None
        self._seen = seen
        """What the stream was like when a plan was last looked for."""
        self.plan = self._planned()

    def change(self, workload: Workload) -> Plan:
        """Other queries: the plan for now, in which those that stay run on as they are."""
        self.workload = workload
        self.plan = changed(self.plan, workload, self._costs())
        return self.plan

    def replan(self) -> Plan:
        """The best plan for all queries; for another workload one always changes to it (GLORIA, Section 7.2)."""
        self.plan = self._planned()
        return self.plan

    def observe(self, seen: Observed) -> Plan | None:
        """A better plan, where the stream has drifted, there is one, and to change to it pays."""
        if self._seen is not None and not drifted(self._seen, seen, self._patience.threshold):
            return None
        self._seen = seen
        found = self._planned()
        if not migration(self.plan, found, self._costs()).pays(self._patience.windows):
            return None
        self.plan = found
        return found

    def _planned(self) -> Plan:
        return plan(self.workload, self.strategy, self._costs(), self._optimizer)

    def _costs(self) -> CostModel:
        """Of a window as long as the longest: in a longer one all plans cost more, and what is quadratic most."""
        if self._seen is None:
            return self._model(Statistics())
        within = max((query.within.seconds for query in self.workload.queries), default=self._seen.seconds)
        return self._model(self._seen.per_window(within))


def chooses(strategy: str) -> bool:
    """Does its plan depend on what the stream is like?"""
    return strategy == "auto" or isinstance(OPTIMIZERS.get(strategy), PathSearch)


def plan_along(route: Route, whole: Plan, seen: Observed | None = None) -> Plan:
    """The plan of those queries of a workload that go along a route, for a stream that is like this."""
    workload = workload_along(route, whole.workload)
    if seen is not None:
        return Replanner(workload, whole.strategy, seen=seen, kept=False).plan
    return whole if len(workload.queries) == len(whole.queries) else plan(workload, whole.strategy)


def _keeping(strategy: str) -> GloriaOptimizer | None:
    search = OPTIMIZERS.get("gloria" if strategy == "auto" else strategy)
    return KeptGraphs(search) if isinstance(search, PathSearch) else search


class KeptGraphs:
    """A search for plans that generates the graph of a template once, and later gives it other weights."""

    MOST = 64
    """Graphs; the one that was longest not asked for goes first."""

    def __init__(self, search: PathSearch) -> None:
        self._search = search
        self._graphs: dict[Template, Graph] = {}

    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        prices = Prices(template, model)
        graph = self._graphs.pop(template, None)
        if graph is None:
            graph = graph_of(template, prices, self._search.policy)
        else:
            reweigh(graph, prices)
        self._graphs[template] = graph
        if len(self._graphs) > self.MOST:
            del self._graphs[next(iter(self._graphs))]
        return self._search.plan_of(graph, prices)
