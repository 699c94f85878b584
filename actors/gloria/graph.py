"""The graph of a planned set: many queries, one pass over their events, shared as a sharing plan says.

A slice of the stream is cut into panes, and each pane by partition, as in a HAMLET graph. The bursts of a partition go
through shared states. At the end of a pane these are evaluated into the counters of the queries. So windows and saved
states see the counters of each query as if it had run apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Events, Scratch
from elsinore.actors.columns.intake import Taken
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.gloria.plan_numba_fns import PlanWorkspace, run_plan
from elsinore.actors.hamlet.burst_work import Segment
from elsinore.actors.hamlet.graphlets_numba_fns import Members
from elsinore.actors.lowering.plans import PlanMember, PlanTables
from elsinore.actors.lowering.sets import members_of
from elsinore.actors.members import SetMember
from elsinore.actors.set_graph import MemberCells
from elsinore.actors.windows.pane_set import PaneSet
from elsinore.planner.gloria.sets import PlannedSet, places_by_number, steps_of_set
from elsinore.planner.time.clock import Clock

SNAPSHOTS = 16
"""Capacity of a chain, in snapshots: with more, expressions are long; with fewer, chains are settled often."""


class PlanGraph(PaneSet):
    def __init__(
        self, planned: PlannedSet, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool
    ) -> None:
        super().__init__(members, kinds, clock, exact)
        queries = [member.plan for member in members]
        self.planned = planned
        self.places = places_by_number(planned, queries)
        self.steps = steps_of_set(planned, queries)
        self.insertions = 1
        """How often the values of each snapshot are inserted: more than once only to measure the cost of one insertion,
        because kernels have no clock."""
        self._laid_out: tuple[Members, PlanTables, PlanWorkspace, Scratch] | None = None

    def process(self, taken: Sequence[Taken], _: int) -> MemberCells:
        found = self.nothing()
        events = taken[0].events
        if not len(events.time):
            return found
        segments, events, after = self.segments(events)
        for segment in segments:
            self.reach(int(events.time[segment.first]), found)
            self._run(segment, events, after)
        return found

    def _run(self, segment: Segment, events: Events, after: np.typing.NDArray[np.int32]) -> None:
        def run(done: int) -> tuple[int, int]:
            members, tables, workspace, scratch = self._lay_out()
            found: tuple[int, int] = run_plan(
                events, after, segment.touched, segment.starts, done, len(segment.touched), tables.arrivals,
                tables.chains, tables.states, tables.inlets, members, self.merged().tables, workspace, self.numbers,
                self.least, self.graphs[0].shape.words, scratch, self.totals,
            )  # fmt: skip
            return found

        self.run_segment(segment, run)

    def _lay_out(self) -> tuple[Members, PlanTables, PlanWorkspace, Scratch]:
        """Return the arrays that kernels read; make them anew if buffers, lanes, partitions or kinds have changed."""
        self.gather()
        if self._laid_out is None or self._laid_out[0].kinds != len(self.kinds):
            told = [
                PlanMember(own, columns, graph.shape)
                for own, columns, graph in zip(self.places, self.columns, self.graphs, strict=True)
            ]
            tables = PlanTables(self.planned, self.steps, told, self.kinds, SNAPSHOTS)
            self._laid_out = (
                members_of([graph.own for graph in self.graphs], self.merged(), self.kinds),
                tables,
                tables.workspace(self.exact, self.words, self.insertions),
                self.scratch(),
            )
        return self._laid_out
