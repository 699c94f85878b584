"""Rows as columns, which a graph returns when windows close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.rows.event_order import EventOrder

Column: TypeAlias = npt.NDArray[Any] | pa.Array


@dataclass(frozen=True)
class Rows:
    """Rows of one query, column by column.

    Window bounds are ticks of the run's clock. A column of values is int64 or float64 where every value fits and none
    is null. It is an Arrow array where MIN or MAX keep a type such as timestamp. Otherwise it is an array of objects:
    int (of any size), float, Decimal (a number beyond float64) or None.
    """

    query: str
    window_start: npt.NDArray[np.int64]
    window_end: npt.NDArray[np.int64]
    groups: dict[str, pa.Array]
    values: dict[str, Column]
    order: EventOrder | None = None
    """Of matches that are to be merged with those of other engines, what they are compared by."""

    def __len__(self) -> int:
        return len(self.window_start)
