"""Arrays of integers that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt


def column(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, np.int32)


def long_column(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.fromiter(values, np.int64)


def pointers(ranges: Sequence[Sequence[object]]) -> npt.NDArray[np.int32]:
    """Return where each range begins when all of them lie one after another, and the end of the last one."""
    return np.cumsum([0, *map(len, ranges)], dtype=np.int32)


def starts_of(sizes: Iterable[int]) -> list[int]:
    """Return where each of some things of these sizes begins when they lie one after another."""
    return list(accumulate(map(int, sizes), initial=0))[:-1]
