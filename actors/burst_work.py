"""A slice of a share set's stream as work to be done: events by pane and partition, bursts, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from actors.counters_numba_fns import Events
from actors.hamlet_numba_fns import Asked, Bursts, Rows
from planner.bursts import Choices


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
