"""Find places in sorted columns, and compare keys: shared pieces of the kernels of detection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elsinore.planner.kernels.compiled import part

Ints = npt.NDArray[np.int64]

# Operators of comparisons; NOT_EQUAL_BACK compares a right side with a left one.
LESS, AT_MOST, GREATER, AT_LEAST, EQUAL, NOT_EQUAL, NOT_EQUAL_BACK = range(7)

NO_LEFT, NO_RIGHT = 2**63 - 1, -(2**63)
"""The keys of null on the left and on the right side of a comparison by <, <= or =: it is false then."""


@part
def lower_bound(values: Ints, lo: int, hi: int, value: int) -> int:
    """Return the first place of a sorted range at which there is no smaller value."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if values[middle] < value:
            lo = middle + 1
        else:
            hi = middle
    return lo


@part
def sought(values: Ints, lo: int, hi: int, hint: int, value: int) -> int:
    """Return what `lower_bound` does, in a time that grows with the logarithm of the distance from a hint."""
    k = min(max(hint, lo), hi)
    step = 1
    if k < hi and values[k] < value:
        while k + step < hi and values[k + step] < value:
            k += step
            step <<= 1
        return lower_bound(values, k + 1, min(k + step, hi), value)
    while k - step >= lo and values[k - step] >= value:
        k -= step
        step <<= 1
    return lower_bound(values, max(k - step + 1, lo), k, value)


@part
def ordered(operator: int, a: float, b: float) -> bool:
    """Compare two numbers by an operator up to EQUAL."""
    if operator == LESS:
        return a < b
    if operator == GREATER:
        return a > b
    if operator == EQUAL:
        return a == b
    if operator == AT_MOST:
        return a <= b
    return a >= b


@part
def compared(operator: int, a: int, b: int) -> bool:
    """Compare two keys, of which either may be that of null."""
    if operator <= EQUAL:
        return ordered(operator, a, b)
    if operator == NOT_EQUAL:
        return a != b and a != NO_LEFT and b != NO_RIGHT
    return a != b and a != NO_RIGHT and b != NO_LEFT
