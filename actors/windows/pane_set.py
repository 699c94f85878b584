"""The base of graphs of share sets with windows of panes: many queries, one pass over their events.

A slice of the stream is cut into panes of the share set, and each pane by partition. Each query keeps counters, windows
and panes of its own, and closes them as it would alone. The counters of all queries lie in one buffer, so that a kernel
can access them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Scratch
from elsinore.actors.columns.events import plain
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.burst_work import Segment
from elsinore.actors.hamlet.bursts_numba_fns import by_partition
from elsinore.actors.lowering.sets import Columns, Merged
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.closing import Together
from elsinore.actors.windows.panes import PaneGraph
from elsinore.actors.windows.window_rows import WindowRows


class MemberGraph(PaneGraph):
    """The counters and windows of one query; the graph of its share set takes in its events."""

    share: SharedGraph
    together: Together | None = None
    """The members with which it closes its windows; None: it closes them by itself."""
    of_and = False
    """Whether it is a counter of an AND: its results are by partition, to be paired with those of other counters."""

    def widen(self) -> None:
        self.share.widen()

    def _reach(self, pane: int) -> Iterator[Cells]:
        if self.together is None:
            yield from super()._reach(pane)
        else:
            self.together.reach(pane)
            yield from self.together.take(self)

    def reach(self, pane: int) -> Iterator[Cells]:
        if self.pane != pane:
            yield from self._reach(pane)

    def settle(self, time: int) -> Iterator[Cells]:
        self.share.settle(time)
        yield from super().settle(time)

    def finish(self) -> Iterator[Cells]:
        self.share.flush()
        yield from super().finish()


class SharedGraph:
    def __init__(self, graphs: Sequence[MemberGraph], kinds: EventKinds, exact: bool) -> None:
        self.graphs = graphs
        self.kinds = kinds
        self.exact = exact
        self.pane = reduce(gcd, (graph.windows.pane for graph in graphs))
        """A pane of the share set: no window of any query begins or ends within one."""
        self.seconds = 0.0
        """Processor time in seconds that events took so far."""
        self.columns: list[Columns] = []
        self.words = 1 if exact else 2
        """Words of a coefficient."""
        self.numbers: npt.NDArray[Any] = np.zeros(0, number_type(exact, self.words))
        self.least = np.zeros(0, np.int64)
        self.bases: list[tuple[int, int]] = []
        """By member, where its counters begin in `numbers` and in `least`."""
        self.closing: list[Together] = []
        self._merged: Merged | None = None
        self._laid_out: Any = None
        """The arrays that kernels read; None once buffers, lanes or partitions have changed."""
        for graph in graphs:
            graph.share = self

    def know(self, columns: list[Columns]) -> None:
        """Set the shared columns that each member's lanes add up; called whenever there are new ones."""
        self.columns = columns
        self._merged = self._laid_out = None
        self._bring_together()

    def _bring_together(self) -> None:
        """Group members that can close together: equal windows, kept as rows of counters with equally many lanes."""
        alike: dict[Any, tuple[list[MemberGraph], WindowRows]] = {}
        for graph in self.graphs:
            if isinstance(graph.method, WindowRows):
                key = graph.windows, graph.shape.lanes, graph.shape.keys, graph.of_and
                alike.setdefault(key, ([], graph.method))[0].append(graph)
        self.closing = [Together(self, graphs, method) for graphs, method in alike.values()]
        for one in self.closing:
            for graph in one.graphs:
                graph.together = one

    def process(self, events: Events, later: int) -> list[list[Cells]]:
        """Take in events, and return per member the results that are due.

        Events are sorted by time, and none is older than those taken in before. No event that comes later is older
        than `later`.
        """
        raise NotImplementedError

    def settle(self, time: int) -> None:
        """Note that no event older than `time` will come."""

    def flush(self) -> None:
        """Take in the events that are held back."""

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        """Keep only these partitions, in this order."""

    def reach(self, segment: Segment, events: Events, ready: list[list[Cells]]) -> None:
        """End all panes of members that are over when a segment begins, and add the results to `ready`."""
        time = int(events.time[segment.first])
        for one in self.closing:
            one.reach(time // one.windows.pane)
        for graph, cells in zip(self.graphs, ready, strict=True):
            if graph.together is None:
                cells += graph.reach(time // graph.windows.pane)

    def hand_out(self, ready: list[list[Cells]]) -> list[list[Cells]]:
        """Add the results of members that close their windows together, and return `ready`."""
        for graph, cells in zip(self.graphs, ready, strict=True):
            if graph.together is not None:
                cells += graph.together.take(graph)
        return ready

    def reached(self, segment: Segment) -> None:
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

    def widen(self) -> None:
        """Double the words of all members' numbers: these have the same words for all members."""
        for graph in self.graphs:
            PaneGraph.widen(graph)

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
