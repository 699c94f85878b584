"""The run of a share set of flattened sequences: from a batch's columns to the cells of all its queries."""

from __future__ import annotations

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.baselines.prefix_tree_graph import PrefixTreeGraph
from elsinore.actors.baselines.sequences import Sequences
from elsinore.actors.buffered_sharing import BufferedCounting, BufferedSharing
from elsinore.actors.counting import Batch, no_links
from elsinore.actors.neighbours.graph import MovingGraph
from elsinore.actors.neighbours.shared_windows import WindowMember
from elsinore.actors.sharing import taken
from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.windows import Windows


class PrefixCounting(BufferedCounting):
    """A counter whose prefixes are counted in the tree of its share set."""

    graph: WindowMember

    def _buffered(self, plan: QueryPlan, clock: Clock) -> tuple[type[WindowMember], type[MovingGraph]]:
        return WindowMember, MovingGraph


class PrefixSharing(BufferedSharing[PrefixCounting, PrefixTreeGraph]):
    """The counters of a share set, and the tree that they share."""

    def __init__(self, plan: Plan, share_set: PrefixSet, clock: Clock, exact: bool) -> None:
        super().__init__(plan, share_set, exact)
        self.countings = [PrefixCounting(self.shared, query, counter, clock, exact) for query, counter in self.plans]
        self.graph = PrefixTreeGraph(
            [Sequences(query, clock) for query, _ in self.plans],
            [counting.graph for counting in self.countings],
            self.kinds,
            lambda: [counting.layout() for counting in self.countings],
            Windows.of(self.plans[0][0].query, clock),
            self.new_buffer(links=0),
        )

    def process(self, batch: Batch) -> None:
        """Take in a batch, and leave the results that are due with each counter."""
        found = self.kinds.of(batch.types, batch.columns)
        columns, slots, times, kinds = taken(batch, found, self.shared.reads)
        self.learn(columns)
        values, keys = self.shared.columns.values(columns, len(times)), self.shared.columns.keys(columns, len(times))
        self.graph.process(Events(slots, times, kinds.astype(np.int16), values, keys), no_links(len(times)))
        for counting in self.countings:
            counting.ready += counting.graph.hand_out()
