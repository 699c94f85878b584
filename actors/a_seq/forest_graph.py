"""The A-Seq graph of a share set: sequences whose windows move with every event, counted by start event."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elsinore.actors.a_seq.forest_numba_fns import FULL, Answers, Questions, run_forest
from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.lowering.forests import ForestTables, RouteMember
from elsinore.actors.lowering.moving_windows import results
from elsinore.actors.members import SetMember
from elsinore.actors.moving.due import DueGraph
from elsinore.actors.moving.stacks_numba_fns import Due, MovingResults
from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.time.clock import Clock

SNAPSHOT_ROWS = 1 << 10
"""Initial room of a connection, in rows that its snapshots have together."""


class ForestGraph(DueGraph):
    """A graph in which common prefixes of sequences are counted once, in the rows of common start events."""

    def __init__(
        self, share_set: ForestSet, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool
    ) -> None:
        super().__init__(members, kinds, clock, exact)
        self.forest = share_set.forest
        self.snapshot_rows = SNAPSHOT_ROWS
        self._tables: ForestTables | None = None

    def renew(self) -> None:
        self._tables = None

    def _run(self, events: Events, runs: npt.NDArray[np.int64], due: Due) -> tuple[MovingResults, int]:
        if self._tables is None or len(self._tables.kinds) != len(self.kinds):
            members = [
                RouteMember(member.counter, member.reads(), within)
                for member, within in zip(self.members, self.within, strict=True)
            ]
            self._tables = ForestTables(self.forest, members, list(self.kinds.classes))
        return count(self._tables, events, runs, self.group_of, due, self.blocks(), self.snapshot_rows)

    def _make_room(self, stopped: int) -> None:
        if stopped == FULL:
            self.snapshot_rows *= 2
        else:
            self.widen()


def count(
    tables: ForestTables,
    events: Events,
    runs: npt.NDArray[np.int64],
    group_of: npt.NDArray[np.int32],
    due: Due,
    blocks: Sequence[Blocks],
    capacity: int,
) -> tuple[MovingResults, int]:
    """Evaluate all windows that are due. (results, why it stopped)"""
    questions = Questions(due.at, due.when, due.who, due.row)
    found = results(due, blocks)
    answers = Answers(*found[:4], found.found, due.row_at)
    rows = tables.rows(events, runs, blocks[0].shape.words, blocks[0].exact)
    snapshots = tables.snapshots(capacity, rows)
    stopped = run_forest(
        events, runs, group_of, questions, tables.trees, tables.targets, rows, snapshots, answers
    )  # fmt: skip
    return found, int(stopped)
