"""A share set of flattened sequences at work: from a batch's columns to the cells of all its queries."""

from __future__ import annotations

import numpy as np

from actors.buffered_graph import MovingGraph
from actors.buffered_sharing import BufferedCounting, BufferedSharing
from actors.counters_numba_fns import Events
from actors.counting import Batch, no_links
from actors.prefix_tree_graph import PrefixTreeGraph
from actors.sequences import Sequences
from actors.shared_windows import WindowMember
from actors.sharing import taken
from planner.clock import Clock
from planner.plan import Plan, QueryPlan
from planner.prefix_sets import PrefixSet
from planner.windows import Windows


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
        """Take in a batch; what is due by it waits with each counter."""
        found = self.kinds.of(batch.types, batch.columns)
        columns, slots, times, kinds = taken(batch, found, self.shared.reads)
        self.learn(columns)
        values, keys = self.shared.columns.values(columns, len(times)), self.shared.columns.keys(columns, len(times))
        self.graph.process(Events(slots, times, kinds.astype(np.int16), values, keys), no_links(len(times)))
        for counting in self.countings:
            counting.ready += counting.graph.hand_out()
