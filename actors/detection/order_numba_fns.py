"""The order of matches that bind lists."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elsinore.planner.kernels.compiled import kernel, part

Ints = npt.NDArray[np.int64]


@part
def precedes(end: Ints, start: Ints, at: Ints, text: npt.NDArray[np.int32], a: int, b: int) -> bool:
    """Return whether match a comes before match b in the order of rows."""
    if end[a] != end[b]:
        return end[a] < end[b]
    if start[a] != start[b]:
        return start[a] < start[b]
    i, j = at[a], at[b]
    while i < at[a + 1] and j < at[b + 1]:
        if text[i] != text[j]:
            return text[i] < text[j]
        i += 1
        j += 1
    return False


@kernel
def sort_matches(end: Ints, start: Ints, at: Ints, text: npt.NDArray[np.int32], order: Ints, spare: Ints) -> None:
    """Sort `order`: merge sort, bottom up. `text[at[m] : at[m + 1]]` are the numbers by which match m is compared."""
    count = len(order)
    width = 1
    while width < count:
        for lo in range(0, count, 2 * width):
            middle, hi = min(lo + width, count), min(lo + 2 * width, count)
            i, j = lo, middle
            for k in range(lo, hi):
                if j >= hi or (i < middle and not precedes(end, start, at, text, order[j], order[i])):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(count):
            order[k] = spare[k]
        width *= 2
