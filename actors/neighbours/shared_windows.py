"""One buffer of events for a whole share set: a window is evaluated when it is over, for all queries at once.

Windows are evaluated one after another, as those of a single query (`neighbours/graph.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import OpenWindows, WindowGraph
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.buffer import Buffer
from elsinore.planner.time.windows import Windows


class WindowMember(WindowGraph):
    """One query of a share set, which evaluates its windows."""

    share: SharedWindows[Any]

    def __init__(self, *rest: Any) -> None:
        super().__init__(*rest)
        self.ready: list[Cells] = []

    def settle(self, time: int) -> Iterator[Cells]:
        self.share.settle(time)
        yield from self.hand_out()

    def finish(self) -> Iterator[Cells]:
        self.share.finish()
        yield from self.hand_out()

    def hand_out(self) -> list[Cells]:
        """Return the results that the share set has found, and forget them."""
        ready, self.ready = self.ready, []
        return ready


M = TypeVar("M", bound=WindowMember)


class SharedWindows(Generic[M]):
    def __init__(self, graphs: Sequence[M], windows: Windows, buffer: Buffer) -> None:
        self.graphs = graphs
        self.buffer = buffer
        self.open = OpenWindows(windows, buffer)
        for graph in graphs:
            graph.share = self

    @property
    def group_of(self) -> npt.NDArray[Any]:
        """By partition, its group; the same for all queries."""
        return self.graphs[0].group_of

    @property
    def groups(self) -> int:
        return self.graphs[0].groups

    def process(self, events: Events, links: Links) -> None:
        """Take in events, sorted by time and none older than those before, and leave the results with each member."""
        if len(events.time):
            self.buffer.extend(events, links)
            self.settle(int(events.time[-1]))

    def settle(self, time: int) -> None:
        """Evaluate the windows that end no later than `time`."""
        for start in self.open.until(time):
            self._evaluate(start)

    def finish(self) -> None:
        for start in self.open.rest():
            self._evaluate(start)

    def _evaluate(self, start: int) -> None:
        window = self.open.events(start, len(self.group_of))
        if window is not None:
            self._answer(start, start + self.open.windows.within, *window)

    def _answer(self, start: int, end: int, events: Events, links: Links, runs: npt.NDArray[Any]) -> None:
        """Evaluate a window, and append its cells to those that are ready for each member."""
        raise NotImplementedError

    def renew(self) -> None:
        """Discard the layout: members have other lanes, or columns have moved."""
        raise NotImplementedError

    def save(self) -> dict[str, Any]:
        return {"buffer": self.buffer.save(), "next_window": self.open.next}

    def load(self, state: dict[str, Any]) -> None:
        self.buffer.load(state["buffer"])
        self.open.next = state["next_window"]
