"""The work on a slice of a share set's stream: events by pane and partition, their bursts, and the decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.hamlet.bursts_numba_fns import Asked, BurstRows, Bursts, Cutting
from elsinore.planner.hamlet.bursts import Choices


@dataclass(frozen=True)
class Segment:
    """The events of one pane of the share set, by partition, and their bursts."""

    first: int
    touched: npt.NDArray[np.int64]
    """The partitions that have events."""
    starts: npt.NDArray[np.int64]
    """The first event of each of these partitions."""
    burst_at: npt.NDArray[np.int64]
    """The first burst of each of these partitions, and the end of the bursts of the last one."""


class Cut:
    """The bursts cut so far from the events of a slice, which are cut pane by pane."""

    def __init__(self, events: int, kinds: int) -> None:
        self.bursts = Bursts(*(np.empty(events + 1, np.int64) for _ in Bursts._fields))
        self.rows = BurstRows(
            np.empty(events + 64, np.uint64), *(np.empty(events + 64, np.int64) for _ in BurstRows._fields[1:])
        )
        self.asked = Asked(*(np.empty(events + 1, np.int64) for _ in Asked._fields))
        self.scratch = Cutting(
            np.zeros(kinds, np.int64), np.empty(kinds, np.int64), np.empty(64, np.uint64), np.empty(64, np.int64)
        )
        self.bursts.row_at[0] = self.asked.at[0] = 0
        self.counts = 0, 0, 0
        """Numbers of bursts, of their rows, and of bursts that the optimizer is asked about."""

    def make_room(self) -> None:
        """Double the room for rows."""
        self.rows = BurstRows(*(np.concatenate([column, np.empty_like(column)]) for column in self.rows))

    def known(self) -> tuple[Bursts, BurstRows, Asked]:
        """Return the bursts cut so far, their rows, and the bursts that the optimizer is asked about."""
        b, r, a = self.counts
        bursts = Bursts(*(column[:b] for column in self.bursts))._replace(row_at=self.bursts.row_at[: b + 1])
        asked = Asked(*(column[:a] for column in self.asked))._replace(at=self.asked.at[: a + 1])
        return bursts, BurstRows(*(column[:r] for column in self.rows)), asked


@dataclass(frozen=True)
class Work:
    events: Events
    after: npt.NDArray[np.int32]
    """The next event of the same partition and pane, or -1."""
    bursts: Bursts
    rows: BurstRows
    asked: Asked
    choices: Choices
    created: npt.NDArray[np.int64]
    """By burst, the number of snapshots created."""
    most: npt.NDArray[np.int64]
    """By burst, the largest number of snapshots that one of its graphlets propagates."""
