"""Closing of windows for all members of a share set that have the same windows, in one call of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from elsinore.actors.lowering.arrays import flat, long_column
from elsinore.actors.rows.cells import Cells, join
from elsinore.actors.windows.closing_numba_fns import Closing, close_rows
from elsinore.actors.windows.panes import PaneGraph, end_panes
from elsinore.actors.windows.window_rows import WindowRows
from elsinore.planner.time.windows import Windows

RESULTS_AT_ONCE = 1 << 12
"""Results that one call of the kernel has room for, unless a single member may have more."""


@dataclass(frozen=True)
class Closed:
    """Cells of several members, and the member of each cell."""

    member: npt.NDArray[np.int32]
    cells: Cells


class CounterBuffer(Protocol):
    """The counters of all members of a set, in one buffer."""

    graphs: Sequence[PaneGraph]
    numbers: npt.NDArray[Any]
    least: npt.NDArray[np.int64]
    bases: list[tuple[int, int]]
    """By member, where its counters begin in `numbers` and in `least`."""

    def gather(self) -> None:
        """Move all members' counters to the buffer."""

    def widen(self) -> None:
        """Double the words of all numbers."""


class ClosingGroup:
    """Members that close their windows together.

    Their windows are rows of counters, their cells have the same number of lanes, and they are always in the same
    pane. `method` is the one of any of them.
    """

    def __init__(self, share: CounterBuffer, members: Sequence[int], method: WindowRows) -> None:
        self.share = share
        self.members = members
        self.graphs = [share.graphs[member] for member in members]
        self.method = method
        self._laid_out: tuple[npt.NDArray[np.generic], Closing] | None = None

    @property
    def windows(self) -> Windows:
        return self.graphs[0].windows

    @property
    def latest(self) -> int:
        return self.graphs[0].latest

    @property
    def pane(self) -> int | None:
        return self.graphs[0].pane

    def reach(self, pane: int) -> Iterator[tuple[int, Cells]]:
        """End panes until `pane` is open, and yield members with the results that are due."""
        if self.pane == pane:
            return
        if found := list(end_panes(self, pane)):
            members = np.concatenate([one.member for one in found])
            yield from self._dealt(Closed(members, join([one.cells for one in found])))

    def finish(self) -> Iterator[tuple[int, Cells]]:
        """End all windows that have events, and yield members with their results."""
        if self.pane is not None:
            yield from self.reach(self.latest + self.windows.panes)

    def _dealt(self, closed: Closed) -> Iterator[tuple[int, Cells]]:
        order = np.argsort(closed.member, kind="stable")
        cells = closed.cells.taken(order)
        at = np.searchsorted(closed.member[order], np.arange(len(self.graphs) + 1)).tolist()
        for member, begin, end in zip(self.members, at, at[1:], strict=False):
            if begin < end:
                yield member, cells.taken(slice(begin, end))

    def open(self, pane: int) -> None:
        for graph in self.graphs:
            graph.pane = pane
            if self.method.opens:
                graph.method.open(graph, pane)

    def clear(self) -> None:
        for graph in self.graphs:
            graph.method.clear(graph)

    def close(self, pane: int) -> Iterator[Closed]:
        since = pane + 1 - self.windows.panes
        window, rest = divmod(since, self.windows.step)
        done = len(self.graphs) if rest else 0
        while done < len(self.graphs):
            done, closed = self._close_from(done, window, since)
            if len(closed.member):
                yield closed

    def _close_from(self, first: int, window: int, since: int) -> tuple[int, Closed]:
        """Close the windows of as many members as there is room for. (the first member not done, cells)

        If the numbers of that member did not fit, all numbers are widened.
        """
        shape, one, closing = self.graphs[0].shape, self.graphs[0], self._lay_out()
        room = max(len(one.result_of), min(RESULTS_AT_ONCE, len(one.result_of) * len(self.graphs)))
        out = np.empty((room, shape.lanes, shape.words), self.share.numbers.dtype)
        out_least = np.empty((room, shape.keys), np.int64)
        group, member = np.empty((2, room), np.int32)
        done, count, flag = close_rows(
            closing, first, self.share.numbers, self.share.least, shape.rows, window % shape.rows,
            not self.method.by_begin, shape.lanes, shape.keys, shape.words, since,
            one.pane_of, one.group_of, one.result_of,
            out.reshape(-1), out_least.reshape(-1), group, member,
        )  # fmt: skip
        if flag >> 62:
            self.share.widen()
        start = window * self.windows.slide
        cells = Cells(
            np.full(count, start), np.full(count, start + self.windows.within),
            group[:count].copy(), out[:count].copy(), out_least[:count].copy(),
        )  # fmt: skip
        return done, Closed(member[:count].copy(), cells)

    def _lay_out(self) -> Closing:
        """Return the layout of the members' counters, rebuilt if the buffer of the share set has changed."""
        self.share.gather()
        if self._laid_out is None or self._laid_out[0] is not self.share.numbers:
            self._laid_out = self.share.numbers, self._closing()
        return self._laid_out[1]

    def _closing(self) -> Closing:
        places = [self.share.bases[member] for member in self.members]
        return Closing(
            base=long_column(base for base, _ in places),
            block=long_column(graph.own.width for graph in self.graphs),
            least_base=long_column(base for _, base in places),
            least_block=long_column(graph.own.keys for graph in self.graphs),
            states=long_column(graph.shape.states for graph in self.graphs),
            **flat(accepting=[graph.tables.accepting for graph in self.graphs]),
        )
