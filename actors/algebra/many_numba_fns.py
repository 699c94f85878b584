"""Do arithmetic on many numbers side by side, in buffers as those of `numbers_numba_fns`.

Loops over numbers of one word are written so that the compiler can vectorise them: no early exit, no calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elsinore.actors.algebra.numbers_numba_fns import OVERFLOW, add, add_product, add_times, copy
from elsinore.planner.kernels.compiled import by_type, part

LOW = np.int64(0xFFFFFFFF)
HALF = np.int64(32)
SMALL = np.int64(0x7FFFFFFF)


def add_each(dst: Any, d: Any, src: Any, s: Any, count: Any, w: Any, flag: Any) -> Any:
    """Compute dst[d + k] += src[s + k] for `count` values of k. `d` and `s` count numbers, here and below."""
    raise NotImplementedError("runs compiled only")


def add_all(dst: Any, d: Any, src: Any, s: Any, count: Any, w: Any, flag: Any) -> Any:
    """Compute dst[d] += src[s] + src[s + 1] + …."""
    raise NotImplementedError("runs compiled only")


def sum_back(dst: Any, d: Any, src: Any, s: Any, count: Any, w: Any, flag: Any) -> Any:
    """Compute dst[d + k] = src[s + k] + … + src[s + count - 1]."""
    raise NotImplementedError("runs compiled only")


def add_products(
    dst: Any, d: Any, one: Any, i: Any, other: Any, j: Any, at: Any, a: Any, count: Any, w: Any, flag: Any
) -> Any:
    """Compute dst[d] += one[i] * other[j + at[a]] + one[i + 1] * other[j + at[a + 1]] + …."""
    raise NotImplementedError("runs compiled only")


def add_multiples(
    dst: Any, d: Any, src: Any, s: Any, factors: Any, a: Any, less: Any, count: Any, w: Any, flag: Any
) -> Any:
    """Compute dst[d] += src[s] * max(factors[a] - less, 0) + src[s + 1] * max(factors[a + 1] - less, 0) + ….

    Factors are ascending, and exceed `less` by less than 2**31.
    """
    raise NotImplementedError("runs compiled only")


@part
def _add_each_word(dst, d, src, s, count, w, flag):
    to, by = dst[d : d + count], src[s : s + count]
    for k in range(len(to)):
        flag = add(to, k, by, k, 1, flag)
    return flag


@part
def _add_each(dst, d, src, s, count, w, flag):
    for k in range(count):
        flag = add(dst, (d + k) * w, src, (s + k) * w, w, flag)
    return flag


@part
def _add_all_words(dst, d, src, s, count, w, flag):
    """Add up the halves of words separately, so that only the two sums are checked for overflow."""
    low, high = np.int64(0), np.int64(0)
    words = src[s : s + count]
    for k in range(len(words)):
        low += words[k] & LOW
        high += words[k] >> HALF
    high += low >> HALF
    if abs(high) >= 1 << 29:
        return flag | OVERFLOW
    total = dst[d] + (high << HALF) + (low & LOW)
    dst[d] = total
    return flag | (total ^ (total >> 63))


@part
def _add_all(dst, d, src, s, count, w, flag):
    for k in range(count):
        flag = add(dst, d * w, src, (s + k) * w, w, flag)
    return flag


@part
def _sum_back_words(dst, d, src, s, count, w, flag):
    total = np.int64(0)
    to, by = dst[d : d + count], src[s : s + count]
    for k in range(len(to) - 1, -1, -1):
        total += by[k]
        flag |= total ^ (total >> 63)
        to[k] = total
    return flag


@part
def _sum_back(dst, d, src, s, count, w, flag):
    copy(dst, d * w, src, s * w, count * w)
    for k in range(count - 2, -1, -1):
        flag = add(dst, (d + k) * w, dst, (d + k + 1) * w, w, flag)
    return flag


@part
def _add_products_of_words(dst, d, one, i, other, j, at, a, count, w, flag):
    """Check for overflow at the end, in floats whose error is far smaller than the margin."""
    total, size = dst[d], abs(np.float64(dst[d]))
    by, places = one[i : i + count], at[a : a + count]
    for k in range(len(by)):
        word, factor = by[k], other[j + places[k]]
        total += word * factor
        size += abs(np.float64(word) * np.float64(factor))
    if size >= 2.0**61:
        return flag | OVERFLOW
    dst[d] = total
    return flag


@part
def _add_products(dst, d, one, i, other, j, at, a, count, w, flag):
    for k in range(count):
        flag = add_product(dst, d * w, one, (i + k) * w, other, (j + at[a + k]) * w, w, flag)
    return flag


@part
def _add_multiples_of_words(dst, d, src, s, factors, a, less, count, w, flag):
    """Multiply the halves of words separately, in blocks whose sums cannot overflow.

    The machine multiplies several halves at once, but not several words.
    """
    if count <= 0:
        return flag
    total = dst[d]
    most, step = max(factors[a + count - 1] - less, 1), count
    if most * count > SMALL:
        step = max(SMALL // most, 1)
    for begin in range(0, count, step):
        end = min(begin + step, count)
        words, by = src[s + begin : s + end], factors[a + begin : a + end]
        low, high = np.int64(0), np.int64(0)
        for k in range(len(words)):
            factor = max(by[k] - less, 0) & SMALL
            low += (words[k] & LOW) * factor
            high += (words[k] >> HALF) * factor
        high += low >> HALF
        if abs(high) >= 1 << 29:
            return flag | OVERFLOW
        total += (high << HALF) + (low & LOW)
        flag |= total ^ (total >> 63)
    dst[d] = total
    return flag


@part
def _add_multiples(dst, d, src, s, factors, a, less, count, w, flag):
    for k in range(count):
        if factors[a + k] > less:
            flag = add_times(dst, d * w, src, (s + k) * w, factors[a + k] - less, w, flag)
    return flag


@by_type(add_each)
def _choose_add_each(dst, d, src, s, count, w, flag):
    if str(dst.dtype) == "int64":
        return lambda dst, d, src, s, count, w, flag: _add_each_word(dst, d, src, s, count, w, flag)
    return lambda dst, d, src, s, count, w, flag: _add_each(dst, d, src, s, count, w, flag)


@by_type(add_all)
def _choose_add_all(dst, d, src, s, count, w, flag):
    if str(dst.dtype) == "int64":
        return lambda dst, d, src, s, count, w, flag: _add_all_words(dst, d, src, s, count, w, flag)
    return lambda dst, d, src, s, count, w, flag: _add_all(dst, d, src, s, count, w, flag)


@by_type(sum_back)
def _choose_sum_back(dst, d, src, s, count, w, flag):
    if str(dst.dtype) == "int64":
        return lambda dst, d, src, s, count, w, flag: _sum_back_words(dst, d, src, s, count, w, flag)
    return lambda dst, d, src, s, count, w, flag: _sum_back(dst, d, src, s, count, w, flag)


@by_type(add_products)
def _choose_add_products(dst, d, one, i, other, j, at, a, count, w, flag):
    if str(dst.dtype) == "int64":
        return lambda dst, d, one, i, other, j, at, a, count, w, flag: _add_products_of_words(
            dst, d, one, i, other, j, at, a, count, w, flag
        )
    return lambda dst, d, one, i, other, j, at, a, count, w, flag: _add_products(
        dst, d, one, i, other, j, at, a, count, w, flag
    )


@by_type(add_multiples)
def _choose_add_multiples(dst, d, src, s, factors, a, less, count, w, flag):
    if str(dst.dtype) == "int64":
        return lambda dst, d, src, s, factors, a, less, count, w, flag: _add_multiples_of_words(
            dst, d, src, s, factors, a, less, count, w, flag
        )
    return lambda dst, d, src, s, factors, a, less, count, w, flag: _add_multiples(
        dst, d, src, s, factors, a, less, count, w, flag
    )
