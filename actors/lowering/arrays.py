"""Arrays of integers that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt


def column(values: Iterable[int]) -> npt.NDArray[np.int32]:
    return np.fromiter(values, np.int32)


def long_column(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.fromiter(values, np.int64)


def pointers(ranges: Sequence[Sequence[object]]) -> npt.NDArray[np.int32]:
    """Return where each range begins when all of them lie one after another, and the end of the last one."""
    return np.cumsum([0, *map(len, ranges)], dtype=np.int32)


def flat(**ranges: Sequence[Sequence[int]]) -> dict[str, npt.NDArray[np.int32]]:
    """Return two columns for each of these: `NAME_at` as of `pointers`, and `NAME`, the numbers of all its ranges."""
    found = {}
    for name, some in ranges.items():
        found[f"{name}_at"], found[name] = pointers(some), column(chain.from_iterable(some))
    return found


def flat_pairs(
    name: str, ranges: Sequence[Sequence[tuple[int, int]]], one: str, other: str
) -> dict[str, npt.NDArray[np.int32]]:
    """Do as `flat` for ranges of pairs: their first numbers are `NAME_ONE`, their second ones `NAME_OTHER`."""
    return {
        f"{name}_at": pointers(ranges),
        f"{name}_{one}": column(first for some in ranges for first, _ in some),
        f"{name}_{other}": column(second for some in ranges for _, second in some),
    }


def starts_of(sizes: Iterable[int]) -> list[int]:
    """Return where each of some things of these sizes begins when they lie one after another."""
    return list(accumulate(map(int, sizes), initial=0))[:-1]
