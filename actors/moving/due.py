"""The base of graphs of share sets whose windows move with every event: which windows are due, and when.

All queries have one buffer of events. A window that is due is evaluated over the events of the buffer, as that of a
single query (`MovingGraph` in `neighbours/graph.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.counting import no_links
from elsinore.actors.hamlet.bursts_numba_fns import DONE
from elsinore.actors.lowering.sets import Columns
from elsinore.actors.moving.bursts_numba_fns import find_due
from elsinore.actors.moving.stacks_numba_fns import Due, Results
from elsinore.actors.moving.tables import enders, result_of
from elsinore.actors.neighbours.buffered_numba_fns import order_by_slot
from elsinore.actors.neighbours.graph import MovingGraph, cells
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.buffer import Buffer


class MovingMember(MovingGraph):
    """One query of a share set, which evaluates its windows."""

    @property
    def own(self) -> Blocks:
        """An empty block with a map of its counters."""
        return Blocks.empty(self.shape, self.exact, 1)


class DueGraph(ABC):
    """The graph of a share set whose windows move with every event.

    `columns` returns the lanes of each member. `ends` has, by member, whether events of each class may end its trends.
    """

    def __init__(
        self,
        graphs: Sequence[MovingMember],
        kinds: EventKinds,
        columns: Callable[[], list[Columns]],
        ends: Sequence[npt.NDArray[np.bool_]],
        buffer: Buffer,
    ) -> None:
        self.graphs = graphs
        self.kinds = kinds
        self.columns = columns
        self.ends = ends
        self.buffer = buffer
        self.longest = max(graph.within for graph in graphs)

    def process(self, events: Events) -> list[Cells | None]:
        """Take in events, sorted by time and none older than those before, and return per member the results due."""
        if not len(events.time):
            return [None] * len(self.graphs)
        self.buffer.extend(events, no_links(len(events.time)))
        found = self._evaluate(self._due(events))
        self.buffer.drop_before(int(events.time[-1]) - self.longest + 1)
        return found

    @abstractmethod
    def renew(self) -> None:
        """Discard the layout: members have other lanes, or columns have moved."""

    @abstractmethod
    def _run(self, events: Events, runs: npt.NDArray[np.int64], due: Due) -> tuple[Results, int]:
        """Evaluate all windows that are due. (results, why it stopped)"""

    @abstractmethod
    def _make_room(self, stopped: int) -> None:
        """Make room for what a run stopped at."""

    def save(self) -> dict[str, Any]:
        return {"buffer": self.buffer.save()}

    def load(self, state: dict[str, Any]) -> None:
        self.buffer.load(state["buffer"])

    def _due(self, events: Events) -> Due:
        graph = self.graphs[0]
        order, runs = order_by_slot(graph.group_of[events.slot], graph.groups)
        ending = enders(self.ends, self.kinds.classes)
        return Due(*find_due(events.time, events.kind, order, runs, *ending, len(self.graphs)))

    def _evaluate(self, due: Due) -> list[Cells | None]:
        if not len(due.time):
            return [None] * len(self.graphs)
        events, _, runs = self.buffer.by_slot(0, len(self.buffer), len(self.graphs[0].group_of))
        while True:
            found, stopped = self._run(events, runs, due)
            if stopped == DONE:
                return [self._cells(member, found, due) for member in range(len(self.graphs))]
            self._make_room(stopped)

    def _cells(self, member: int, found: Results, due: Due) -> Cells | None:
        first, end = due.row_at[member : member + 2]
        rows = np.flatnonzero(found.found[first:end])
        graph = self.graphs[member]
        time = due.time[first:end][rows]
        out = result_of(member, found, graph.own)
        return cells(out, rows, time - graph.within, time, due.group[first:end][rows]) if len(rows) else None

    def _widen(self) -> None:
        words = self.graphs[0].shape.words
        for graph in self.graphs:
            graph.shape = graph.shape._replace(words=2 * words)
