"""Arithmetic on counters against Python's own numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from hypothesis import assume, example, given
from hypothesis import strategies as st

from elsinore.actors.algebra import many_numba_fns as many
from elsinore.actors.algebra import numbers_numba_fns as numbers
from tests.support.generated import fresh

OVERFLOW = 1 << 62
Ints = st.integers


@numba.njit
def add(dst: Any, src: Any, words: int) -> int:
    return numbers.add(dst, 0, src, 0, words, 0)


@numba.njit
def add_times(dst: Any, src: Any, value: Any, words: int) -> int:
    return numbers.add_times(dst, 0, src, 0, value, words, 0)


@numba.njit
def add_product(dst: Any, one: Any, other: Any, words: int) -> int:
    return numbers.add_product(dst, 0, one, 0, other, 0, words, 0)


@numba.njit
def add_coefficient(dst: Any, value: Any, words: int, coefficient: Any, few: int) -> int:
    return numbers.add_coefficient(dst, 0, value, 0, words, coefficient, 0, few, 0)


@numba.njit
def add_shorter(dst: Any, words: int, src: Any, few: int) -> int:
    return numbers.add_shorter(dst, 0, words, src, 0, few, 0)


@numba.njit
def double(number: Any, times: int, words: int) -> int:
    return numbers.double(number, 0, times, words, 0)


@numba.njit
def add_multiples(dst: Any, src: Any, factors: Any, less: int, words: int) -> int:
    return many.add_multiples(dst, 0, src, 0, factors, 0, less, len(factors), words, 0)


@numba.njit
def is_zero(number: Any, words: int) -> bool:
    return numbers.is_zero(number, 0, words)


def words_of(value: int, words: int) -> npt.NDArray[Any]:
    data = value.to_bytes(8 * words, "little", signed=True)
    return np.frombuffer(data, np.int64 if words == 1 else np.uint64).copy()


def value_of(number: npt.NDArray[Any]) -> int:
    return int.from_bytes(number.tobytes(), "little", signed=True)


@st.composite
def several(draw: st.DrawFn, count: int) -> tuple[int, list[int]]:
    """Integers that kernels may meet in so many words: they fit all but two bits. Any size is as likely as another."""
    words = draw(Ints(1, 5))
    found = []
    for _ in range(count):
        bits = draw(Ints(0, 64 * words - 2))
        edge = draw(st.sampled_from((0, 1, None)))
        size = (1 << bits) - edge if edge is not None else draw(Ints(0, 1 << bits))
        size = min(size, (1 << 64 * words - 2) - 1)
        found.append(size if draw(st.booleans()) else -size)
    return words, found


def holds(flag: int, dst: npt.NDArray[Any], old: int, term: int, words: int, room: int) -> None:
    """Without the flag the sum is exact; with it, it needed more room than there may be."""
    if flag & OVERFLOW:
        assert max(abs(old), abs(term)) >= 1 << room
    else:
        assert value_of(dst) == old + term


@fresh(400)
@given(several(2))
def test_exact_sums(case: tuple[int, list[int]]) -> None:
    words, (x, y) = case
    dst = words_of(x, words)
    holds(add(dst, words_of(y, words), words), dst, x, y, words, 64 * words - 3)
    assert is_zero(words_of(x, words), words) == (x == 0)


@fresh(400)
@given(several(2), st.one_of(Ints(-(2**63), 2**63 - 1), Ints(-300, 300), st.just(-(2**63))))
@example((2, [0, -1]), -(2**63))
@example((2, [0, -(2**63)]), -(2**63))
@example((1, [0, -(2**31)]), 2**31)
def test_exact_multiples(case: tuple[int, list[int]], value: int) -> None:
    words, (x, y) = case
    dst = words_of(x, words)
    flag = add_times(dst, words_of(y, words), value, words)
    if flag & OVERFLOW and words > 1 and value and abs(y) >= 1 << 64 * (words - 1) - 1:
        return
    holds(flag, dst, x, y * value, words, 64 * words - 4)


@fresh(400)
@given(several(1), Ints(0, 400))
@example((2, [1]), 124)
@example((4, [-1]), 64)
@example((1, [0]), 64)
def test_exact_doublings(case: tuple[int, list[int]], times: int) -> None:
    words, (x,) = case
    number = words_of(x, words)
    if double(number, times, words) & OVERFLOW:
        assert abs(x) << times >= 1 << 64 * words - 4
    else:
        assert value_of(number) == x << times


@fresh(400)
@given(several(5), st.lists(Ints(0, 2**29 - 1) | Ints(0, 3), min_size=4, max_size=4), Ints(0, 2**29))
@example((1, [0, 2**31, 2**31, -(2**31), 2**30]), [2**29 - 1] * 4, 0)
def test_exact_sums_of_multiples(case: tuple[int, list[int]], steps: list[int], less: int) -> None:
    words, (x, *values) = case
    factors = np.cumsum(steps).astype(np.int32)
    dst, src = words_of(x, words), np.concatenate([words_of(y, words) for y in values])
    flag = add_multiples(dst, src, factors, less, words)
    terms = [y * max(int(factor) - less, 0) for y, factor in zip(values, factors, strict=True)]
    if flag & OVERFLOW:
        longest = max(map(abs, values))
        assert abs(x) + sum(map(abs, terms)) >= 1 << 64 * words - 4 or (words > 1 and longest >= 1 << 64 * words - 65)
    else:
        assert value_of(dst) == x + sum(terms)


@fresh(400)
@given(several(3))
@example((2, [0, -1, -1]))
@example((3, [0, -(2**127), -(2**63)]))
def test_exact_products(case: tuple[int, list[int]]) -> None:
    words, (x, y, z) = case
    dst = words_of(x, words)
    flag = add_product(dst, words_of(y, words), words_of(z, words), words)
    holds(flag, dst, x, y * z, words, max(64 * words - 130, 60))
    if min(x, y, z) >= 0 and words > 1:
        assert bool(flag & OVERFLOW) == (x + y * z >= 1 << 64 * words - 2)


def wide(value: int, words: int) -> npt.NDArray[np.uint64]:
    return words_of(value, words).view(np.uint64)


@fresh(400)
@given(several(2), several(1))
@example((3, [5, -7]), (1, [-(2**61)]))
@example((2, [2**100, 2**70]), (5, [1]))
def test_numbers_of_other_lengths(case: tuple[int, list[int]], other: tuple[int, list[int]]) -> None:
    (words, (x, y)), (few, (z,)) = case, other
    assume(words > 1)
    dst = wide(x, words)
    holds(
        add_coefficient(dst, wide(y, words), words, wide(z, few), few), dst, x, y * z, words, max(64 * words - 130, 60)
    )
    if few <= words:
        dst = wide(x, words)
        holds(add_shorter(dst, words, wide(z, few), few), dst, x, z, words, 64 * words - 3)


Scaled = tuple[float, int]

mantissas = st.one_of(
    st.just(0.0),
    st.floats(2.0**-256, 2.0**256, exclude_min=True, exclude_max=True),
    st.sampled_from([2.0**-255.5, 2.0**255.5, 1.0, 1.5, 3.0]),
)
scaled = st.tuples(
    st.tuples(mantissas, st.sampled_from([1, -1])).map(lambda pair: pair[0] * pair[1]), st.integers(-6, 6)
)


def whole(number: Any) -> Fraction:
    return Fraction(float(number[0])) * Fraction(2) ** (512 * int(number[1]))


def near(dst: npt.NDArray[np.float64], old: Fraction, term: Fraction) -> None:
    assert np.isfinite(dst).all()
    assert dst[0] == 0 or 2.0**-256 <= abs(dst[0]) <= 2.0**256
    assert abs(whole(dst) - (old + term)) <= (abs(old) + abs(term)) / 10**12


@fresh(400)
@given(scaled, scaled)
def test_approximate_sums(x: Scaled, y: Scaled) -> None:
    dst = np.array(x, np.float64)
    add(dst, np.array(y, np.float64), 2)
    near(dst, whole(x), whole(y))


factors = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e-280, 1e-280),
    st.sampled_from([5e-324, 1.7e308, 2.0**-256, 2.0**256, 2.0**-768, 2.0**768, 0.0, 1.0]),
)


@fresh(400)
@given(scaled, scaled, factors)
@example((2.0**255, 0), (2.0**-255, 3), 2.0**-1070)
def test_approximate_multiples(x: Scaled, y: Scaled, factor: float) -> None:
    dst = np.array(x, np.float64)
    add_times(dst, np.array(y, np.float64), factor, 2)
    near(dst, whole(x), whole(y) * Fraction(factor))


@fresh(400)
@given(scaled, Ints(0, 4_000))
def test_approximate_doublings(x: Scaled, times: int) -> None:
    number = np.array(x, np.float64)
    double(number, times, 2)
    near(number, Fraction(0), whole(x) * 2**times)


@fresh(400)
@given(scaled, scaled, scaled)
def test_approximate_products(x: Scaled, y: Scaled, z: Scaled) -> None:
    dst = np.array(x, np.float64)
    add_product(dst, np.array(y, np.float64), np.array(z, np.float64), 2)
    near(dst, whole(x), whole(y) * whole(z))


@fresh(50)
@given(st.lists(scaled, min_size=1, max_size=40))
def test_many_approximate_sums_of_one_sign(terms: list[Scaled]) -> None:
    """Without cancellation the error stays relative to the sum itself."""
    dst = np.zeros(2)
    for mantissa, exponent in terms:
        add(dst, np.array([abs(mantissa), exponent], np.float64), 2)
    true = sum((abs(whole(term)) for term in terms), Fraction(0))
    assume(true)
    assert abs(whole(dst) / true - 1) < Fraction(1, 10**12)
