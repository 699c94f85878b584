"""A planned set at work: the counters of its queries, and the graph that they share."""

from __future__ import annotations

from actors.plan_graph import PlanGraph
from actors.sharing import Shared
from planner.clock import Clock
from planner.plan import Plan
from planner.planned_sets import PlannedSet


class PlanSharing(Shared):
    graph: PlanGraph

    def __init__(self, plan: Plan, planned: PlannedSet, clock: Clock, exact: bool) -> None:
        super().__init__(plan, planned, clock, exact)
        queries = [query for query, _ in self.plans]
        graphs = [counting.graph for counting in self.countings]
        self.graph = PlanGraph(planned, queries, graphs, self.kinds, exact)
