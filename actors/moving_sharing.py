"""A share set of windows that move with every event at work: from a batch's columns to the cells of all its queries."""

from __future__ import annotations

from collections.abc import Callable

from actors.buffered_graph import MovingGraph, WindowGraph
from actors.buffered_sharing import BufferedCounting, BufferedSharing
from actors.counters_numba_fns import Events
from actors.counting import Batch
from actors.due_graph import DueGraph, MovingMember
from actors.forest_graph import ForestGraph
from actors.moving_share_graph import MovingShareGraph
from actors.sharing import taken
from planner.clock import Clock
from planner.forest_sets import ForestSet
from planner.plan import Plan, QueryPlan
from planner.sharing import MovingSet


class MovingCounting(BufferedCounting):
    """A counter whose windows move with every event."""

    graph: MovingMember

    def _buffered(self, plan: QueryPlan, clock: Clock) -> tuple[Callable[..., WindowGraph], Callable[..., MovingGraph]]:
        return WindowGraph, MovingMember


class MovingSharing(BufferedSharing[MovingCounting, DueGraph]):
    """The counters of a share set, and the graph that they share."""

    def __init__(self, plan: Plan, share_set: MovingSet | ForestSet, clock: Clock, exact: bool) -> None:
        super().__init__(plan, share_set, exact)
        self.countings = [MovingCounting(self.shared, query, counter, clock, exact) for query, counter in self.plans]
        self.graph = self._graph(share_set)

    def _graph(self, share_set: MovingSet | ForestSet) -> DueGraph:
        common = (
            [counting.graph for counting in self.countings],
            self.kinds,
            lambda: [counting.layout() for counting in self.countings],
            [counting.ends for counting in self.countings],
            self.new_buffer(links=0),
        )
        if isinstance(share_set, ForestSet):
            return ForestGraph(share_set, [counter for _, counter in self.plans], *common)
        return MovingShareGraph(share_set, *common)

    def process(self, batch: Batch) -> None:
        """Take in a batch; what is due by it waits with each counter."""
        found = self.kinds.of(batch.types, batch.columns)
        columns, slots, times, kinds = taken(batch, found, self.shared.reads)
        self.learn(columns)
        values, keys = self.shared.columns.values(columns, len(times)), self.shared.columns.keys(columns, len(times))
        due = self.graph.process(Events(slots, times, kinds, values, keys))
        for counting, cells in zip(self.countings, due, strict=True):
            if cells is not None:
                counting.ready.append(cells)
