"""Events of a slice of the stream, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True)
class Batch:
    """Events sorted by time, with the partition of each (-1: none); no later event is older than `later`."""

    types: pa.DictionaryArray
    times: npt.NDArray[np.int64]
    columns: Mapping[str, pa.Array]
    slots: npt.NDArray[np.int32]
    later: int

    def between(self, first: int, end: int) -> Batch:
        """Return the events from the time `first` on and before the time `end`."""
        lo, hi = (int(np.searchsorted(self.times, time)) for time in (first, end))
        return self if hi - lo == len(self.times) else self.slice(lo, hi, self.later)

    def slice(self, lo: int, hi: int, later: int) -> Batch:
        """Return the events from number `lo` to `hi`, where no event behind them is older than `later`."""
        columns = {name: column.slice(lo, hi - lo) for name, column in self.columns.items()}
        return Batch(self.types.slice(lo, hi - lo), self.times[lo:hi], columns, self.slots[lo:hi], later)
