"""The base of graphs of share sets with windows of panes: many queries, one pass over their events.

A slice of the stream is cut into panes of the share set, and each pane by partition. Each query keeps counters, windows
and panes of its own, and closes them as it would alone. The counters of all queries lie in one buffer, so that a kernel
can access them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import gcd
from time import thread_time
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Scratch
from elsinore.actors.columns.events import plain
from elsinore.actors.columns.intake import Growth
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.burst_work import Segment
from elsinore.actors.hamlet.bursts_numba_fns import NUMBERS, by_partition
from elsinore.actors.lowering.sets import MemberColumns, Merged
from elsinore.actors.members import SetMember
from elsinore.actors.rows.cells import Cells
from elsinore.actors.set_graph import MemberCells, PartitionGroups, SetGraph
from elsinore.actors.windows.closing import ClosingGroup
from elsinore.actors.windows.member_panes import pane_graph
from elsinore.actors.windows.panes import PaneGraph
from elsinore.actors.windows.window_rows import WindowRows
from elsinore.planner.time.clock import Clock


class PaneSet(SetGraph[Cells]):
    """The base of graphs of share sets whose queries have windows of panes."""

    def __init__(self, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool) -> None:
        super().__init__(len(members))
        self.members = members
        self.graphs: Sequence[PaneGraph] = [pane_graph(member, clock, exact) for member in members]
        for graph in self.graphs:
            graph.peers = self.graphs
        self.kinds = kinds
        self.exact = exact
        self.pane = reduce(gcd, (graph.windows.pane for graph in self.graphs))
        """A pane of the share set: no window of any query begins or ends within one."""
        self.columns: list[MemberColumns] = []
        self.words = 1 if exact else 2
        """Words of a coefficient."""
        self.numbers: npt.NDArray[Any] = np.zeros(0, number_type(exact, self.words))
        self.least = np.zeros(0, np.int64)
        self.bases: list[tuple[int, int]] = []
        self.closing: list[ClosingGroup] = []
        self.single: list[int] = list(range(len(members)))
        """The members that close their windows each by itself."""
        self._merged: Merged | None = None
        self._laid_out: Any = None
        """The arrays that kernels read; None once buffers, lanes or partitions have changed."""

    def admit(self, groups_of: Sequence[PartitionGroups]) -> None:
        for graph, groups in zip(self.graphs, groups_of, strict=True):
            graph.admit(groups.group_of, groups.groups)

    def extend(self, intake: int, growth: Growth) -> None:
        """Do nothing: events are not kept, so nothing has the columns of the set but the members."""

    def follow(self, growths: Sequence[Growth]) -> None:
        for member, graph, growth in zip(self.members, self.graphs, growths, strict=True):
            # Columns of other members may come before its own now, so the tables change with any lane.
            graph.extend(growth, member.tables())
        self.columns = [member.reads() for member in self.members]
        self._merged = self._laid_out = None
        self._bring_together()

    def _bring_together(self) -> None:
        """Group members that can close together: equal windows, kept as rows of counters with equally many lanes."""
        alike: dict[Any, tuple[list[int], WindowRows]] = {}
        self.single = []
        for number, (member, graph) in enumerate(zip(self.members, self.graphs, strict=True)):
            if isinstance(graph.method, WindowRows):
                key = graph.windows, graph.method.by_begin, graph.shape.lanes, graph.shape.keys, member.of_conjunction
                alike.setdefault(key, ([], graph.method))[0].append(number)
            else:
                self.single.append(number)
        self.closing = [ClosingGroup(self, members, method) for members, method in alike.values()]

    def end_until(self, time: int) -> MemberCells:
        found = self.nothing()
        self.reach(time, found)
        return found

    def finish(self) -> MemberCells:
        self.flush()
        found = self.nothing()
        for group in self.closing:
            for member, cells in group.finish():
                found[member].append(cells)
        for member in self.single:
            found[member] += self.graphs[member].finish()
        return found

    def reach(self, time: int, found: MemberCells) -> None:
        """End all panes of members that are over at `time`, and add the results."""
        for group in self.closing:
            for member, cells in group.reach(time // group.windows.pane):
                found[member].append(cells)
        for member in self.single:
            found[member] += self.graphs[member].end_until(time)

    def keep(self, slots: npt.NDArray[np.int64], groups_of: Sequence[PartitionGroups]) -> None:
        for graph, groups in zip(self.graphs, groups_of, strict=True):
            graph.keep(slots, groups.group_of)

    def save_member(self, member: int) -> dict[str, Any]:
        return self.graphs[member].save()

    def load_member(self, member: int, growth: Growth, state: dict[str, Any]) -> None:
        self.graphs[member].extend(growth, self.members[member].tables())
        self.graphs[member].load(state)

    def run_segment(self, segment: Segment, run: Callable[[int], tuple[int, int]]) -> None:
        """Take in the events of a segment, with more memory wherever the kernel stops.

        `run` goes on from a number of partitions that are done, and returns how many are done then and why it stopped.
        """
        begin = thread_time()
        done, count = 0, len(segment.touched)
        while done < count:
            done, stopped = run(done)
            if done < count:
                self.make_room(stopped)
                self._laid_out = None
        self.seconds += thread_time() - begin
        self._reached(segment)

    def make_room(self, stopped: int) -> None:
        """Give numbers or coefficients more words."""
        if stopped == NUMBERS or self.words >= self.graphs[0].shape.words:
            # A coefficient that does not fit the words of the numbers has products that do not fit either.
            self.widen()
        else:
            self.words *= 2

    def widen(self) -> None:
        """Double the words of all members' numbers: these have the same words for all members."""
        self.graphs[0].widen()

    def _reached(self, segment: Segment) -> None:
        """Note that all members have taken in the events of a segment."""
        pane_of: dict[int, npt.NDArray[np.int64]] = {}
        for graph in self.graphs:
            assert graph.pane is not None
            graph.latest = graph.pane
            # Queries whose panes are equally long share one array.
            length = graph.windows.pane
            if length not in pane_of:
                graph.pane_of[segment.touched] = graph.pane
                pane_of[length] = graph.pane_of
            graph.pane_of = pane_of[length]

    def segments(self, events: Events) -> tuple[list[Segment], Events, npt.NDArray[np.int32]]:
        """Sort events by pane of the share set, and within a pane by partition. (panes, events, next event of each)"""
        times = events.time
        order = np.empty(len(times), np.int64)
        after = np.empty(len(times), np.int32)
        counts = np.zeros(self.graphs[0].slots, np.int64)
        segments, alone = [], []
        lo = 0
        while lo < len(times):
            hi = int(np.searchsorted(times, (int(times[lo]) // self.pane + 1) * self.pane))
            touched, starts = np.empty((2, min(hi - lo, len(counts))), np.int64)
            found = by_partition(events.slot, lo, hi, counts, order, after, touched, starts)
            segments.append(Segment(lo, touched[:found], starts[:found], np.empty(found + 1, np.int64)))
            if found == 1:
                alone.append((lo, hi))
            lo = hi
        if len(alone) < len(segments):
            for lo, hi in alone:
                order[lo:hi] = np.arange(lo, hi)
            events = ordered(events, order)
        return segments, plain(events), after

    def merged(self) -> Merged:
        if self._merged is None:
            self._merged = Merged([graph.tables for graph in self.graphs])
        return self._merged

    def gather(self) -> None:
        """Move all members' counters to one buffer, of which each member has its own part."""
        if not self._in_one_buffer():
            self._join()

    def _in_one_buffer(self) -> bool:
        return all(
            graph.own.numbers.base is self.numbers and graph.own.least.base is self.least for graph in self.graphs
        )

    def _join(self) -> None:
        self._laid_out = None
        self.numbers = np.concatenate([graph.own.numbers for graph in self.graphs])
        self.least = np.concatenate([graph.own.least for graph in self.graphs])
        at, key_at = 0, 0
        self.bases = []
        for graph in self.graphs:
            end, key_end = at + len(graph.own.numbers), key_at + len(graph.own.least)
            graph.own.numbers, graph.own.least = self.numbers[at:end], self.least[key_at:key_end]
            self.bases.append((at, key_at))
            at, key_at = end, key_end
        # One-word numbers have another dtype than longer ones, and coefficients have the dtype of numbers. Restored
        # numbers may have been widened before they were saved.
        self.words = max(self.words, min(self.graphs[0].shape.words, 2))

    def scratch(self) -> Scratch:
        blocks = [graph.own for graph in self.graphs]
        states = max(blocks, key=lambda one: one.shape.states).shape.states
        return Scratch(
            np.zeros(max(one.width for one in blocks), self.numbers.dtype),
            np.full(max(one.keys for one in blocks), NONE, np.int64),
            np.zeros(states, np.int32),
            np.zeros(states, np.bool_),
            np.zeros(sum(one.width for one in blocks), self.numbers.dtype),
            np.zeros(sum(one.keys for one in blocks), np.int64),
        )


def ordered(events: Events, order: npt.NDArray[np.int64]) -> Events:
    return plain(Events(*(np.take(column, order, axis=-1) for column in events)))
