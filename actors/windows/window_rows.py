"""Windows as rows of counters: window k has row k modulo the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.panes import PaneGraph
from elsinore.actors.windows.windows_numba_fns import begin_all, begin_rows, emit_row
from elsinore.planner.time.windows import Windows


class WindowRows:
    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.rows = windows.overlap
        self.gap = self.rows * windows.step - windows.panes
        """Panes between the end of a row's window and the start of its next one."""

    def begin(self, graph: PaneGraph, first: int, count: int) -> None:
        begin_all(graph.shape, graph.own.numbers, graph.own.least, first, count)

    def open(self, graph: PaneGraph, pane: int) -> None:
        """Reset the row of a window that starts: a row also counts the events of gaps between windows."""
        window, rest = divmod(pane, self.windows.step)
        if self.gap and not rest:
            self._begin_row(graph, window, pane - self.gap)

    def close(self, graph: PaneGraph, pane: int) -> Iterator[Cells]:
        start = pane + 1 - self.windows.panes
        window, rest = divmod(start, self.windows.step)
        if rest:
            return

        def results(out: Blocks, group: npt.NDArray[np.int32]) -> tuple[int, int]:
            row = window % self.rows
            found: tuple[int, int] = emit_row(
                graph.shape, graph.tables, graph.own.numbers, graph.own.least, row, start,
                graph.pane_of, graph.group_of, graph.result_of, out.numbers, out.least, group,
            )  # fmt: skip
            return found

        yield from graph.emit(window, graph, results)
        self._begin_row(graph, window, start)

    def _begin_row(self, graph: PaneGraph, window: int, since: int) -> None:
        begin_rows(graph.shape, graph.own.numbers, graph.own.least, window % self.rows, since, graph.pane_of)

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
