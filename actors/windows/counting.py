"""Counting in the order of events: the quicker way where few partitions keep nothing beside the count of trends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import ADD, CLEAR, MOVE, RENEW, Events, Tables
from elsinore.actors.windows.counting_numba_fns import CountProgram, count_in_order

MOST_NUMBERS = 16
"""The most places of numbers that are copied for each event of a segment, to restore them where counting stops."""

SHORT_EVENTS = 64
"""Segments with fewer events are treated as if they had so many: little is copied anyway."""

LONGEST_PAUSE = 1 << 10
"""The most segments that are not tried after one in which counting stopped."""

EVERYTHING = -1
"""A mask of all bits."""


class Counting:
    """An attempt, segment by segment: events of one time in a partition, and numbers that overflow, stop it."""

    def __init__(self, program: CountProgram) -> None:
        self._program = program
        self._last = np.zeros(0, np.int64)
        self._pause = 0
        """Number of segments not to try after the next one that stops."""
        self._skip = 0

    def count(self, part: Events, blocks: Blocks, slots: int, pane: int, pane_of: npt.NDArray[np.int64]) -> bool:
        """Count the events of a segment and return True, or leave the blocks as they were and return False."""
        used = slots * blocks.width
        if self._skip or used > MOST_NUMBERS * max(len(part.slot), SHORT_EVENTS) or blocks.numbers.dtype == np.uint64:
            self._skip = max(0, self._skip - 1)
            return False
        if len(self._last) < slots:
            # Segments have different times, so what is known of partitions matters within one segment only.
            self._last = np.full(2 * slots, part.time[0] - 1, np.int64)
        before = blocks.numbers[:used].copy()
        done, flag = count_in_order(
            part, self._program, blocks.shape, blocks.numbers, self._last, pane, pane_of, np.int64(0)
        )
        if done == len(part.slot) and not flag >> 62:
            self._pause = 0
            return True
        blocks.numbers[:used] = before
        self._pause = min(2 * self._pause + 1, LONGEST_PAUSE)
        self._skip = self._pause
        return False


def counting(tables: Tables, lanes: int, keys: int) -> Counting | None:
    """Return the attempt for a machine; None if it keeps more than counts, or an event needs the scratch block."""
    if lanes > 1 or keys or not tables.alone.all():
        return None
    steps = [_steps(tables, kind) for kind in range(len(tables.alone))]
    most = max(map(len, steps))
    padded = np.array([[*some, *[(0, 0, 0, EVERYTHING)] * (most - len(some))] for some in steps], np.int64)
    fields = padded.reshape(len(steps), most, 4).transpose(2, 0, 1)
    return Counting(CountProgram(*(np.ascontiguousarray(field) for field in fields)))


def _steps(tables: Tables, kind: int) -> list[tuple[int, int, int, int]]:
    """Return the steps of a kind as (source, target, added, kept). A step that renews trends leaves their count."""
    at = range(tables.program_at[kind], tables.program_at[kind + 1])
    return [
        (
            int(tables.step_from[k]),
            int(tables.step_to[k]),
            EVERYTHING if tables.step_kind[k] in (ADD, MOVE) else 0,
            0 if tables.step_kind[k] in (MOVE, CLEAR) else EVERYTHING,
        )
        for k in at
        if tables.step_kind[k] != RENEW
    ]
