"""The run of a planned set: the counters of its queries, and the graph that they share."""

from __future__ import annotations

from elsinore.actors.gloria.graph import PlanGraph
from elsinore.actors.sharing import Shared
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock


class PlanSharing(Shared):
    graph: PlanGraph

    def __init__(self, plan: Plan, planned: PlannedSet, clock: Clock, exact: bool) -> None:
        super().__init__(plan, planned, clock, exact)
        queries = [query for query, _ in self.plans]
        graphs = [counting.graph for counting in self.countings]
        self.graph = PlanGraph(planned, queries, graphs, self.kinds, exact)
