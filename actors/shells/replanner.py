"""Replanning: the search for other plans while a stream flows, which may run beside the engines on another machine.

Its inputs are changed workloads and statistics of the stream; its outputs are plans for `Engine.change`.
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
    """The thresholds for looking for another plan and for changing to it."""

    threshold: float = 2.0
    """Factor by which the frequency of a type, or the length of its bursts, has to change for another search."""
    windows: float = 10.0
    """Number of windows over which a change has to pay; the stream is expected to stay as it is for so long."""


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
        """Begin with the statistics `seen`, if any are known.

        With `kept`, the graphs of templates are kept, to plan again sooner. What is pruned in a kept graph stays
        pruned, so plans then depend on earlier statistics.
        """
        self.workload = workload
        self.strategy = strategy
        self._model = model or (EngineCost if strategy == "auto" else PaperCost)
        self._patience = patience
        self._optimizer = _keeping(strategy) if kept else None
        self._seen = seen
        """Statistics of the stream when a plan was last looked for."""
        self.plan = self._planned()

    def change(self, workload: Workload) -> Plan:
        """Change the workload, and return a plan for now, in which the queries that stay run on as they are."""
        self.workload = workload
        self.plan = changed(self.plan, workload, self._costs())
        return self.plan

    def replan(self) -> Plan:
        """Adopt and return the best plan for all queries, whatever the change to it costs (GLORIA, Section 7.2)."""
        self.plan = self._planned()
        return self.plan

    def observe(self, seen: Observed) -> Plan | None:
        """Return a better plan if the stream has drifted, there is one, and the change to it pays."""
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
        """Return the costs of a window as long as the longest: in longer ones all plans cost more, quadratic most."""
        if self._seen is None:
            return self._model(Statistics())
        within = max((query.within.length for query in self.workload.queries), default=self._seen.seconds)
        return self._model(self._seen.per_window(within))


def chooses(strategy: str) -> bool:
    """Return whether the plans of a strategy depend on statistics of the stream."""
    return strategy == "auto" or isinstance(OPTIMIZERS.get(strategy), PathSearch)


def plan_along(route: Route, whole: Plan, seen: Observed | None = None) -> Plan:
    """Return the plan of the queries of a workload that go along a route, for a stream with these statistics."""
    workload = workload_along(route, whole.workload)
    if seen is not None:
        return Replanner(workload, whole.strategy, seen=seen, kept=False).plan
    return whole if len(workload.queries) == len(whole.queries) else plan(workload, whole.strategy)


def _keeping(strategy: str) -> GloriaOptimizer | None:
    search = OPTIMIZERS.get("gloria" if strategy == "auto" else strategy)
    return KeptGraphs(search) if isinstance(search, PathSearch) else search


class KeptGraphs:
    """A search for plans that generates the graph of a template once, and later only changes its weights."""

    MOST = 64
    """Number of graphs to keep; the least recently used one is dropped first."""

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
