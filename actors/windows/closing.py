"""Closing of windows for all members of a share set that have the same windows, in one call of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from elsinore.actors.lowering.machines import column, pointers
from elsinore.actors.rows.cells import Cells, join
from elsinore.actors.windows.closing_numba_fns import Closing, close_rows
from elsinore.actors.windows.panes import end_panes
from elsinore.actors.windows.window_rows import WindowRows
from elsinore.planner.time.windows import Windows

if TYPE_CHECKING:
    from elsinore.actors.windows.pane_set import MemberGraph, SharedGraph

ROOM = 1 << 12
"""Results that one call of the kernel has room for, unless a single member may have more."""


@dataclass(frozen=True)
class Closed:
    """Cells of several members, and the member of each cell."""

    member: npt.NDArray[np.int32]
    cells: Cells


class Together:
    """Members that close their windows together.

    Their windows are rows of counters, their cells have the same number of lanes, and they are always in the same
    pane. `method` is the one of any of them.
    """

    def __init__(self, share: SharedGraph, graphs: Sequence[MemberGraph], method: WindowRows) -> None:
        self.share = share
        self.graphs = graphs
        self.gap = method.gap
        self.ready: list[list[Cells]] = [[] for _ in graphs]
        self._place = {id(graph): n for n, graph in enumerate(graphs)}
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

    def reach(self, pane: int) -> None:
        """End panes until `pane` is open, and keep the results that are due until they are taken."""
        if self.pane == pane:
            return
        if found := list(end_panes(self, pane)):
            self._deal(Closed(np.concatenate([one.member for one in found]), join([one.cells for one in found])))

    def take(self, graph: MemberGraph) -> list[Cells]:
        """Return the results that are due for one member, and forget them."""
        place = self._place[id(graph)]
        ready, self.ready[place] = self.ready[place], []
        return ready

    def _deal(self, closed: Closed) -> None:
        order = np.argsort(closed.member, kind="stable")
        cells = closed.cells.taken(order)
        at = np.searchsorted(closed.member[order], np.arange(len(self.graphs) + 1)).tolist()
        for ready, begin, end in zip(self.ready, at, at[1:], strict=False):
            if begin < end:
                ready.append(cells.taken(slice(begin, end)))

    def open(self, pane: int) -> None:
        for graph in self.graphs:
            graph.pane = pane
            if self.gap:
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
        room = max(len(one.result_of), min(ROOM, len(one.result_of) * len(self.graphs)))
        out = np.empty((room, shape.lanes, shape.words), self.share.numbers.dtype)
        out_least = np.empty((room, shape.keys), np.int64)
        group, member = np.empty((2, room), np.int32)
        done, count, flag = close_rows(
            closing, first, self.share.numbers, self.share.least, shape.rows, window % shape.rows,
            shape.lanes, shape.keys, shape.words, since, one.pane_of, one.group_of, one.result_of,
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
        at = {id(graph): place for graph, place in zip(self.share.graphs, self.share.bases, strict=True)}
        places = [at[id(graph)] for graph in self.graphs]
        accepting = [graph.tables.accepting for graph in self.graphs]
        return Closing(
            base=np.array([base for base, _ in places], np.int64),
            block=np.array([graph.own.width for graph in self.graphs], np.int64),
            least_base=np.array([base for _, base in places], np.int64),
            least_block=np.array([graph.own.keys for graph in self.graphs], np.int64),
            states=np.array([graph.shape.states for graph in self.graphs], np.int64),
            accepting_at=pointers(accepting),
            accepting=column(state for states in accepting for state in states),
        )
