"""The base of graphs of share sets whose windows move with every event: which windows are due, and when.

All queries have one buffer of events. A window that is due is evaluated over the events of the buffer, as that of a
single query (`MovingGraph` in `neighbours/graph.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.intake import Taken
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.bursts_numba_fns import DONE
from elsinore.actors.lowering.moving_windows import enders, result_of
from elsinore.actors.members import SetMember
from elsinore.actors.moving.bursts_numba_fns import find_due
from elsinore.actors.moving.stacks_numba_fns import Due, MovingResults
from elsinore.actors.neighbours.buffered_numba_fns import order_by_slot
from elsinore.actors.neighbours.graph import cells
from elsinore.actors.rows.cells import Cells
from elsinore.actors.set_graph import MemberCells
from elsinore.actors.windows.buffered_set import BufferedSet
from elsinore.planner.time.clock import Clock


class DueGraph(BufferedSet):
    """The graph of a share set whose windows move with every event."""

    def __init__(self, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool) -> None:
        super().__init__(members, kinds, exact)
        self.within = [clock.ticks(member.plan.query.within.length) for member in members]
        """The lengths of windows in ticks, by member, as are `ends` and `rows`."""
        self.ends = [member.ends for member in members]
        self.rows = [len(member.counter.machine.starts) for member in members]

    def process(self, taken: Sequence[Taken], _: int) -> MemberCells:
        events = taken[0].events
        if not len(events.time):
            return self.nothing()
        self.buffer.append(taken[0])
        found = self._evaluate(self._due(events))
        self.buffer.drop_before(int(events.time[-1]) - max(self.within) + 1)
        return found

    def end_until(self, time: int) -> MemberCells:
        """Return nothing: a window that moves ends with an event, not behind it."""
        return self.nothing()

    def finish(self) -> MemberCells:
        return self.nothing()

    @abstractmethod
    def _run(self, events: Events, runs: npt.NDArray[np.int64], due: Due) -> tuple[MovingResults, int]:
        """Evaluate all windows that are due. (results, why it stopped)"""

    @abstractmethod
    def _make_room(self, stopped: int) -> None:
        """Make room for what a run stopped at."""

    def blocks(self) -> list[Blocks]:
        """Return, by member, an empty block with a map of its counters."""
        return [
            Blocks.empty(member.shape(self.words, rows), self.exact, 1)
            for member, rows in zip(self.members, self.rows, strict=True)
        ]

    def _due(self, events: Events) -> Due:
        order, runs = order_by_slot(self.group_of[events.slot], self.groups)
        ending = enders(self.ends, self.kinds.classes)
        return Due(*find_due(events.time, events.kind, order, runs, *ending, self.count))

    def _evaluate(self, due: Due) -> MemberCells:
        if not len(due.time):
            return self.nothing()
        events, _, runs = self.buffer.by_slot(0, len(self.buffer), len(self.group_of))
        while True:
            found, stopped = self._run(events, runs, due)
            if stopped == DONE:
                return [list(self._cells(number, found, due, block)) for number, block in enumerate(self.blocks())]
            self._make_room(stopped)

    def _cells(self, member: int, found: MovingResults, due: Due, block: Blocks) -> Iterator[Cells]:
        first, end = due.row_at[member : member + 2]
        rows = np.flatnonzero(found.found[first:end])
        if len(rows):
            time = due.time[first:end][rows]
            out = result_of(member, found, block)
            yield cells(out, rows, time - self.within[member], time, due.group[first:end][rows])
