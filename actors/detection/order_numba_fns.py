"""Sort matches in the order of rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elsinore.planner.kernels.compiled import kernel, part

Ints = npt.NDArray[np.int64]
RowNumbers = npt.NDArray[np.int32]


@part
def comes_before(times: Ints, first: RowNumbers, last: RowNumbers, table: RowNumbers, a: int, b: int) -> bool:
    """Return whether match a, which binds one event to each variable, comes before match b."""
    before, after = times[last[a]], times[last[b]]
    if before == after:
        before, after = times[first[a]], times[first[b]]
    k = 0
    while before == after and k < table.shape[1]:
        before, after = table[a, k], table[b, k]
        k += 1
    return before < after


@kernel
def are_sorted(times: Ints, first: RowNumbers, last: RowNumbers, table: RowNumbers) -> bool:
    """Return whether matches that bind one event to each variable are in the order of rows."""
    for m in range(1, len(table)):
        if comes_before(times, first, last, table, m, m - 1):
            return False
    return True


@part
def precedes(start: Ints, at: Ints, text: RowNumbers, a: int, b: int) -> bool:
    """Return whether match a comes before match b, which ends with it, in the order of rows."""
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
def sort_runs(end: Ints, start: Ints, at: Ints, text: RowNumbers, order: Ints, spare: Ints) -> None:
    """Sort `order`, which is sorted by ends, by a bottom-up merge sort of each run of equal ends.

    `text[at[m] : at[m + 1]]` are the numbers by which match m is compared.
    """
    begin = 0
    while begin < len(order):
        stop = begin + 1
        while stop < len(order) and end[order[stop]] == end[order[begin]]:
            stop += 1
        width = 1
        while width < stop - begin:
            for lo in range(begin, stop, 2 * width):
                middle, hi = min(lo + width, stop), min(lo + 2 * width, stop)
                i, j = lo, middle
                for k in range(lo, hi):
                    if j >= hi or (i < middle and not precedes(start, at, text, order[j], order[i])):
                        spare[k] = order[i]
                        i += 1
                    else:
                        spare[k] = order[j]
                        j += 1
            for k in range(begin, stop):
                order[k] = spare[k]
            width *= 2
        begin = stop
