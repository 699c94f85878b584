"""Do arithmetic on counters that lie in flat buffers.

A number takes `w` consecutive places of its buffer. The type of the buffer says which kind it is:

- int64, exact: one word;
- uint64, exact: `w` words of two's complement, the lowest first. An exact operation returns
  `flag` with bit 62 set if a result needs more than 62 bits of its highest word. Nothing has
  wrapped then; the caller restores the old numbers, widens them and repeats.
- float64, approximate: a mantissa and, behind it, an exponent that counts in units of 2**512.
  Mantissas stay within 2**-256 .. 2**256, so that most additions are one floating-point addition.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from elsinore.planner.kernels.compiled import by_type, instruction, kernel, part

OVERFLOW = np.int64(1 << 62)
TOP = np.uint64(62)
WORD = np.uint64(64)
BIG = 2.0**256
SMALL = 2.0**-256
UNIT = 2.0**512
INVERSE = 2.0**-512


def add(dst: Any, d: Any, src: Any, s: Any, w: Any, flag: Any) -> Any:
    """Compute dst[d] += src[s]."""
    raise NotImplementedError("runs compiled only")


def add_shorter(dst: Any, d: Any, w: Any, src: Any, s: Any, c: Any, flag: Any) -> Any:
    """Compute dst[d] += src[s], which has `c` words instead of `w`."""
    raise NotImplementedError("runs compiled only")


def add_times(dst: Any, d: Any, src: Any, s: Any, value: Any, w: Any, flag: Any) -> Any:
    """Compute dst[d] += src[s] * value."""
    raise NotImplementedError("runs compiled only")


def add_product(dst: Any, d: Any, one: Any, i: Any, other: Any, j: Any, w: Any, flag: Any) -> Any:
    """Compute dst[d] += one[i] * other[j]."""
    raise NotImplementedError("runs compiled only")


def add_coefficient(dst: Any, d: Any, value: Any, i: Any, w: Any, coefficient: Any, j: Any, c: Any, flag: Any) -> Any:
    """Compute dst[d] += value[i] * coefficient[j], where the coefficient has `c` words instead of `w`."""
    raise NotImplementedError("runs compiled only")


@part
def set_one(dst, d):
    """Set dst[d], which was 0, to 1."""
    dst[d] = 1


def is_zero(buffer: Any, i: Any, w: Any) -> Any:
    """Return whether the number at `i` is 0."""
    raise NotImplementedError("runs compiled only")


def double(buffer: Any, i: Any, times: Any, w: Any, flag: Any) -> Any:
    """Compute buffer[i] *= 2**times."""
    raise NotImplementedError("runs compiled only")


@part
def clear(buffer, i, count):
    for k in range(i, i + count):
        buffer[k] = 0


@part
def copy(dst, d, src, s, count):
    for k in range(count):
        dst[d + k] = src[s + k]


# Exact, one word


@part
def _magnitude(word):
    return word ^ (word >> 63)


@part
def _add_word(dst, d, src, s, w, flag):
    total = dst[d] + src[s]
    dst[d] = total
    return flag | _magnitude(total)


@part
def _add_word_times(dst, d, src, s, value, w, flag):
    if abs(np.float64(src[s])) * abs(np.float64(value)) >= 2.0**61:
        return flag | OVERFLOW
    total = dst[d] + src[s] * value
    dst[d] = total
    return flag | _magnitude(total)


@part
def _add_word_product(dst, d, one, i, other, j, w, flag):
    return _add_word_times(dst, d, one, i, other[j], w, flag)


@part
def _double_word(buffer, i, times, w, flag):
    if buffer[i] == 0:
        return flag
    if times > 61 or _magnitude(buffer[i]) >> (61 - times):
        return flag | OVERFLOW
    buffer[i] <<= times
    return flag


# Exact, several words


@part
def _is_zero_wide(buffer, i, w):
    for k in range(i, i + w):
        if buffer[k] != 0:
            return False
    return True


@part
def _add_wide(dst, d, src, s, w, flag):
    low = dst[d]
    total = low + src[s]
    dst[d] = total
    carry = np.uint64(total < low)
    for k in range(1, w):
        b = src[s + k]
        # Most numbers are much shorter than `w`.
        if b != 0 or carry != 0:
            a = dst[d + k]
            total = a + b
            over = np.uint64(total < a)
            total += carry
            carry = over | np.uint64(total < carry)
            dst[d + k] = total
    return flag | _magnitude(np.int64(dst[d + w - 1]))


@part
def _add_shorter_wide(dst, d, w, src, s, c, flag):
    sign = np.uint64(np.int64(src[s + c - 1]) >> 63)
    carry = np.uint64(0)
    for k in range(w):
        b = src[s + k] if k < c else sign
        total = dst[d + k] + b
        over = np.uint64(total < b)
        total += carry
        carry = over | np.uint64(total < carry)
        dst[d + k] = total
    return flag | _magnitude(np.int64(dst[d + w - 1]))


def _product_of_words(typing: Any, a: Any, b: Any) -> Any:
    """Return the high and the low word of a product of two unsigned words, by one instruction of the processor."""
    pair: Any = types.UniTuple(types.uint64, 2)  # type: ignore[no-untyped-call]

    def generated(context: Any, builder: Any, signature: Any, factors: Any) -> Any:
        word, double = ir.IntType(64), ir.IntType(128)
        one, other = (builder.zext(factor, double) for factor in factors)
        product = builder.mul(one, other)
        high = builder.trunc(builder.lshr(product, ir.Constant(double, 64)), word)
        return context.make_tuple(builder, pair, (high, builder.trunc(product, word)))

    return pair(types.uint64, types.uint64), generated


def _split_product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    high, low = divmod(int(a) * int(b), 1 << 64)
    return np.uint64(high), np.uint64(low)


_multiply: Any = instruction(_product_of_words, _split_product)


@kernel
def _words(buffer, i, w):
    """Return how many of its words a number needs."""
    sign = np.int64(buffer[i + w - 1]) >> 63
    k = w
    while k > 1 and np.int64(buffer[i + k - 1]) == sign and (np.int64(buffer[i + k - 2]) >> 63) == sign:
        k -= 1
    return k


@part
def _add_factor(dst, d, src, s, few, w, factor):
    """Compute dst += src * factor modulo 2**(64 w), for an unsigned word and a src of `few` words; return the carry.

    A negative src has as many words as dst: `few` is `w`.
    """
    carry = np.uint64(0)
    for k in range(few):
        high, low = _multiply(src[s + k], factor)
        low += carry
        high += np.uint64(low < carry)
        total = dst[d + k] + low
        carry = high + np.uint64(total < low)
        dst[d + k] = total
    k = few
    while carry and k < w:
        total = dst[d + k] + carry
        carry = np.uint64(total < carry)
        dst[d + k] = total
        k += 1
    return carry


@part
def _length(buffer, i, w):
    """Return the number of words of a number that is not negative, without leading zeros."""
    while w > 0 and buffer[i + w - 1] == 0:
        w -= 1
    return w


@kernel
def _add_wide_times(dst, d, src, s, value, w, flag):
    if value == 0:
        return flag
    if value > 0 and np.int64(src[s + w - 1] | dst[d + w - 1]) >= 0:
        carry = _add_factor(dst, d, src, s, _length(src, s, w), w, np.uint64(np.int64(value)))
        return flag | OVERFLOW if carry != 0 or dst[d + w - 1] >> TOP else flag
    if _words(src, s, w) >= w:
        return flag | OVERFLOW
    _add_factor(dst, d, src, s, w, w, np.uint64(np.int64(value)))
    if value < 0:  # the unsigned word was value + 2**64: subtract src * 2**64
        borrow = np.uint64(0)
        for k in range(1, w):
            a, b = dst[d + k], src[s + k - 1]
            less = a - b
            dst[d + k] = less - borrow
            borrow = np.uint64(a < b) | np.uint64(less < borrow)
    return flag | _magnitude(np.int64(dst[d + w - 1]))


@kernel
def _double_wide(buffer, i, times, w, flag):
    top = i + _words(buffer, i, w) - 1
    _, length = math.frexp(np.float64(_magnitude(np.int64(buffer[top]))))
    if 64 * (top - i) + length + times >= 64 * w - 2:
        return flag if _is_zero_wide(buffer, i, w) else flag | OVERFLOW
    whole, bits = times // 64, np.uint64(times % 64)
    for k in range(i + w - 1, i - 1, -1):
        high = buffer[k - whole] if k - whole >= i else np.uint64(0)
        low = buffer[k - whole - 1] if k - whole > i else np.uint64(0)
        buffer[k] = (high << bits) | (low >> (WORD - bits) if bits else np.uint64(0))
    return flag


@kernel
def _add_wide_coefficient(dst, d, value, i, w, coefficient, j, c, flag):
    """Multiply only the words in use: most values and coefficients are much shorter than `w` and `c`."""
    if np.int64(value[i + w - 1] | coefficient[j + c - 1] | dst[d + w - 1]) < 0:
        return _add_signed_coefficient(dst, d, value, i, w, coefficient, j, c, flag)
    few = _length(value, i, w)
    if few == 0:
        return flag
    for k in range(_length(coefficient, j, c)):
        if few + k > w or _add_factor(dst, d + k, value, i, few, w - k, coefficient[j + k]) != 0:
            return flag | OVERFLOW
    return flag | OVERFLOW if dst[d + w - 1] >> TOP else flag


@kernel
def _add_signed_coefficient(dst, d, value, i, w, coefficient, j, c, flag):
    """Do as `_add_wide_coefficient` where numbers may be negative."""
    if _words(value, i, w) + _words(coefficient, j, c) > w:
        if _is_zero_wide(value, i, w) or _is_zero_wide(coefficient, j, c):
            return flag
        return flag | OVERFLOW
    for k in range(min(c, w)):
        if coefficient[j + k] != 0:
            _add_factor(dst, d + k, value, i, w - k, w - k, coefficient[j + k])
    if np.int64(coefficient[j + c - 1]) < 0:  # the unsigned words were it + 2**(64 c): subtract that
        borrow = np.uint64(0)
        for k in range(c, w):
            a, b = dst[d + k], value[i + k - c]
            less = a - b
            dst[d + k] = less - borrow
            borrow = np.uint64(a < b) | np.uint64(less < borrow)
    return flag | _magnitude(np.int64(dst[d + w - 1]))


# Approximate


@kernel
def _settle(dst, d, mantissa, exponent):
    """Store a number, with its mantissa brought back into range."""
    if mantissa == 0.0:
        exponent = 0.0
    while abs(mantissa) >= BIG:
        mantissa *= INVERSE
        exponent += 1.0
    while mantissa != 0.0 and abs(mantissa) < SMALL:
        mantissa *= UNIT
        exponent -= 1.0
    dst[d] = mantissa
    dst[d + 1] = exponent


@kernel
def _add_apart(dst, d, mantissa, exponent):
    """Add a number of another exponent, or one whose sum leaves the range of mantissas."""
    gap = exponent - dst[d + 1]
    if mantissa == 0.0 or (gap < -1.0 and dst[d] != 0.0):
        return
    if dst[d] == 0.0 or gap > 1.0:
        _settle(dst, d, mantissa, exponent)
    elif gap == 0.0:
        _settle(dst, d, dst[d] + mantissa, exponent)
    elif gap == 1.0:
        _settle(dst, d, dst[d] * INVERSE + mantissa, exponent)
    else:
        _settle(dst, d, dst[d] + mantissa * INVERSE, dst[d + 1])


@part
def _add_scaled(dst, d, mantissa, exponent):
    if dst[d] == 0.0:
        dst[d + 1] = exponent
    total = dst[d] + mantissa
    if exponent == dst[d + 1] and SMALL < abs(total) < BIG:
        dst[d] = total
    else:
        _add_apart(dst, d, mantissa, exponent)


@part
def _add_approximate(dst, d, src, s, w, flag):
    _add_scaled(dst, d, src[s], src[s + 1])
    return flag


@part
def _double_approximate(buffer, i, times, w, flag):
    mantissa = buffer[i] * np.float64(np.int64(1) << min(times, 61))
    if times < 62 and abs(mantissa) < BIG:
        buffer[i] = mantissa
    else:
        _settle(buffer, i, math.ldexp(buffer[i], times % 512), buffer[i + 1] + times // 512)
    return flag


@part
def _add_times_approximate(dst, d, src, s, value, w, flag):
    exponent = src[s + 1]
    factor = np.float64(value)
    if abs(factor) >= BIG:
        factor *= INVERSE
        exponent += 1.0
    product = src[s] * factor
    if abs(factor) >= BIG:
        product = src[s] * (factor * INVERSE)
        exponent += 1.0
    elif factor != 0.0 and abs(factor) < SMALL:
        factor *= UNIT
        exponent -= 1.0
        if abs(factor) < SMALL:
            factor *= UNIT
            exponent -= 1.0
        product = src[s] * factor
    _add_scaled(dst, d, product, exponent)
    return flag


@part
def _add_product_approximate(dst, d, one, i, other, j, w, flag):
    _add_scaled(dst, d, one[i] * other[j], one[i + 1] + other[j + 1])
    return flag


# Dispatch on the type of the buffer


def _kind(buffer):
    return str(buffer.dtype)


@by_type(is_zero)
def _is_zero(buffer, i, w):
    if _kind(buffer) == "uint64":
        return lambda buffer, i, w: _is_zero_wide(buffer, i, w)
    return lambda buffer, i, w: buffer[i] == 0


@by_type(add)
def _add(dst, d, src, s, w, flag):
    if _kind(dst) == "int64":
        return lambda dst, d, src, s, w, flag: _add_word(dst, d, src, s, w, flag)
    if _kind(dst) == "uint64":
        return lambda dst, d, src, s, w, flag: _add_wide(dst, d, src, s, w, flag)
    return lambda dst, d, src, s, w, flag: _add_approximate(dst, d, src, s, w, flag)


@by_type(add_shorter)
def _add_shorter(dst, d, w, src, s, c, flag):
    if _kind(dst) == "uint64":
        return lambda dst, d, w, src, s, c, flag: _add_shorter_wide(dst, d, w, src, s, c, flag)
    return lambda dst, d, w, src, s, c, flag: add(dst, d, src, s, w, flag)


@by_type(add_times)
def _add_times(dst, d, src, s, value, w, flag):
    if _kind(dst) == "int64":
        return lambda dst, d, src, s, value, w, flag: _add_word_times(dst, d, src, s, value, w, flag)
    if _kind(dst) == "uint64":
        return lambda dst, d, src, s, value, w, flag: _add_wide_times(dst, d, src, s, value, w, flag)
    return lambda dst, d, src, s, value, w, flag: _add_times_approximate(dst, d, src, s, value, w, flag)


@by_type(double)
def _double(buffer, i, times, w, flag):
    if _kind(buffer) == "int64":
        return lambda buffer, i, times, w, flag: _double_word(buffer, i, times, w, flag)
    if _kind(buffer) == "uint64":
        return lambda buffer, i, times, w, flag: _double_wide(buffer, i, times, w, flag)
    return lambda buffer, i, times, w, flag: _double_approximate(buffer, i, times, w, flag)


@by_type(add_product)
def _add_product(dst, d, one, i, other, j, w, flag):
    if _kind(dst) == "int64":
        return lambda dst, d, one, i, other, j, w, flag: _add_word_product(dst, d, one, i, other, j, w, flag)
    if _kind(dst) == "uint64":
        return lambda dst, d, one, i, other, j, w, flag: _add_wide_coefficient(dst, d, one, i, w, other, j, w, flag)
    return lambda dst, d, one, i, other, j, w, flag: _add_product_approximate(dst, d, one, i, other, j, w, flag)


@by_type(add_coefficient)
def _add_coefficient(dst, d, value, i, w, coefficient, j, c, flag):
    if _kind(dst) == "int64":
        return lambda dst, d, value, i, w, coefficient, j, c, flag: _add_word_times(
            dst, d, value, i, coefficient[j], w, flag
        )
    if _kind(dst) == "uint64":
        return lambda dst, d, value, i, w, coefficient, j, c, flag: _add_wide_coefficient(
            dst, d, value, i, w, coefficient, j, c, flag
        )
    return lambda dst, d, value, i, w, coefficient, j, c, flag: _add_product_approximate(
        dst, d, value, i, coefficient, j, w, flag
    )
