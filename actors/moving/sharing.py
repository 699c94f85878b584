"""The run of a share set whose windows move with every event: from a batch's columns to the cells of all queries."""

from __future__ import annotations

from collections.abc import Callable

from elsinore.actors.a_seq.forest_graph import ForestGraph
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.buffered_sharing import BufferedCounting, BufferedSharing
from elsinore.actors.counting import Batch
from elsinore.actors.moving.due import DueGraph, MovingMember
from elsinore.actors.moving.graph import MovingShareGraph
from elsinore.actors.neighbours.graph import MovingGraph, WindowGraph
from elsinore.actors.sharing import taken
from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.sharing import MovingSet
from elsinore.planner.time.clock import Clock


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
        """Take in a batch, and leave the results that are due with each counter."""
        found = self.kinds.of(batch.types, batch.columns)
        columns, slots, times, kinds = taken(batch, found, self.shared.reads)
        self.learn(columns)
        values, keys = self.shared.columns.values(columns, len(times)), self.shared.columns.keys(columns, len(times))
        due = self.graph.process(Events(slots, times, kinds, values, keys))
        for counting, cells in zip(self.countings, due, strict=True):
            if cells is not None:
                counting.ready.append(cells)
