"""Windows as rows of counters: window k has row k modulo the number of rows.

If the empty trend never changes, a row counts only the trends that begin after its window does and before the next one
does. A window then is the sum of all rows, and an event changes only the rows that have trends for it to extend. So
trends that begin once in a while cost the same however many windows overlap. Otherwise a row counts all trends of its
window.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.panes import PaneGraph
from elsinore.actors.windows.windows_numba_fns import begin_all, begin_rows, emit_rows, move_empty
from elsinore.planner.time.windows import Windows


class WindowRows:
    def __init__(self, windows: Windows, by_begin: bool) -> None:
        self.windows = windows
        self.by_begin = by_begin and windows.overlap > 1
        """Whether a row counts the trends that begin before the next window does."""
        self.rows = windows.overlap
        self.gap = self.rows * windows.step - windows.panes
        """Panes between the end of a row's window and the start of its next one."""

    @property
    def opens(self) -> bool:
        """Return whether counters change where a pane begins."""
        return bool(self.gap) or self.by_begin

    def begin(self, graph: PaneGraph, first: int, count: int) -> None:
        begin_all(graph.shape, graph.own.numbers, graph.own.least, first, count)
        if self.by_begin and graph.pane is not None:
            self._move_empty(graph, graph.pane, first, count)

    def open(self, graph: PaneGraph, pane: int) -> None:
        """Begin a window: let trends begin in its row, or reset the row, which also counts events between windows."""
        window, rest = divmod(pane, self.windows.step)
        if self.by_begin:
            if not rest or graph.latest <= pane - self.windows.panes:
                self._move_empty(graph, pane, 0, graph.slots)
        elif self.gap and not rest:
            self._begin_row(graph, window, pane - self.gap)

    def _move_empty(self, graph: PaneGraph, pane: int, first: int, count: int) -> None:
        """Let trends begin in the row of the last window that began before or with a pane."""
        move_empty(graph.shape, graph.own.numbers, pane // self.windows.step % self.rows, first, count)

    def close(self, graph: PaneGraph, pane: int) -> Iterator[Cells]:
        start = pane + 1 - self.windows.panes
        window, rest = divmod(start, self.windows.step)
        if rest:
            return

        def results(out: Blocks, group: npt.NDArray[np.int32]) -> tuple[int, int]:
            row = window % self.rows
            rows = (0, self.rows) if self.by_begin else (row, row + 1)
            found: tuple[int, int] = emit_rows(
                graph.shape, graph.tables, graph.own.numbers, graph.own.least, *rows, start,
                graph.pane_of, graph.group_of, graph.result_of, out.numbers, out.least, group,
            )  # fmt: skip
            return found

        yield from graph.emit(window, graph, results)
        self._begin_row(graph, window, start)

    def _begin_row(self, graph: PaneGraph, window: int, since: int) -> None:
        row, empty = window % self.rows, 0 if self.by_begin else 1
        begin_rows(graph.shape, graph.own.numbers, graph.own.least, row, empty, since, graph.pane_of)

    def clear(self, graph: PaneGraph) -> None:
        if self.windows.panes % self.windows.step:
            self.begin(graph, 0, graph.slots)

    def resize(self, slots: int) -> None:
        pass

    def blocks(self) -> Iterator[Blocks]:
        yield from ()

    def make_room(self, words: int) -> None:
        pass

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        pass

    def save(self, slots: int) -> dict[str, Any]:
        return {}

    def load(self, state: dict[str, Any]) -> None:
        pass
