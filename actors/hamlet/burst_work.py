"""A slice of a share set's stream as work to be done: events by pane and partition, bursts, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.hamlet.bursts_numba_fns import Asked, Bursts, Cutting, Rows
from elsinore.planner.hamlet.bursts import Choices


@dataclass(frozen=True)
class Segment:
    """Events of one pane of the share set, by partition, and their bursts."""

    first: int
    touched: npt.NDArray[np.int64]
    """The partitions that have events."""
    starts: npt.NDArray[np.int64]
    """The first event of each."""
    burst_at: npt.NDArray[np.int64]
    """The first burst of each, and the end of the last one's."""


class Cut:
    """Bursts of events, while these are cut pane by pane."""

    def __init__(self, events: int, kinds: int) -> None:
        self.bursts = Bursts(*(np.empty(events + 1, np.int64) for _ in Bursts._fields))
        self.rows = Rows(np.empty(events + 64, np.uint64), *(np.empty(events + 64, np.int64) for _ in Rows._fields[1:]))
        self.asked = Asked(*(np.empty(events + 1, np.int64) for _ in Asked._fields))
        self.scratch = Cutting(
            np.zeros(kinds, np.int64), np.empty(kinds, np.int64), np.empty(64, np.uint64), np.empty(64, np.int64)
        )
        self.bursts.row_at[0] = self.asked.at[0] = 0
        self.counts = 0, 0, 0
        """Of bursts, of their rows, and of those that the optimizer is asked about."""

    def make_room(self) -> None:
        """For rows."""
        self.rows = Rows(*(np.concatenate([column, np.empty_like(column)]) for column in self.rows))

    def known(self) -> tuple[Bursts, Rows, Asked]:
        """As far as they are cut."""
        b, r, a = self.counts
        bursts = Bursts(*(column[:b] for column in self.bursts))._replace(row_at=self.bursts.row_at[: b + 1])
        asked = Asked(*(column[:a] for column in self.asked))._replace(at=self.asked.at[: a + 1])
        return bursts, Rows(*(column[:r] for column in self.rows)), asked


@dataclass(frozen=True)
class Work:
    events: Events
    after: npt.NDArray[np.int32]
    """The next event of the same partition and pane, or -1."""
    bursts: Bursts
    rows: Rows
    asked: Asked
    choices: Choices
    created: npt.NDArray[np.int64]
    """Snapshots, by burst."""
    most: npt.NDArray[np.int64]
    """Snapshots of its graphlet with most, by burst."""
