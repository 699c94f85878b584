"""Columns of results from numbers: integers, floats, or decimals where a float would overflow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.rows.cells import Numbers
from elsinore.actors.rows.rows import Column

WIDE = Context(prec=40, Emax=10**17, Emin=-(10**17))


def floats(numbers: Numbers) -> npt.NDArray[Any]:
    """Return approximate numbers as floats, or as decimals where a float would overflow."""
    mantissa, exponent = numbers[:, 0], numbers[:, 1]
    powers = np.clip(exponent * 512, -2000, 2000).astype(np.int64)
    with np.errstate(over="ignore"):
        values = np.ldexp(mantissa, powers)
    if np.isfinite(values).all():
        return values
    large = values.astype(object)
    for i in np.flatnonzero(~np.isfinite(values)):
        large[i] = WIDE.multiply(Decimal(float(mantissa[i])), WIDE.power(2, 512 * int(exponent[i])))
    return large


def ratio(total: Any, count: Any, power: int) -> float | Decimal:
    """Return total · 2**power / count, correctly rounded where both are integers."""
    if isinstance(total, Decimal) or isinstance(count, Decimal):
        return _small(WIDE.divide(Decimal(total), Decimal(count)))
    if isinstance(total, float):
        return total / float(count)
    above, below = int(total) << max(power, 0), int(count) << max(-power, 0)
    try:
        return above / below
    except OverflowError:
        return WIDE.divide(Decimal(above), Decimal(below))


def added(numbers: Iterable[Any]) -> int | float | Decimal:
    """Return the sum of integers; or of floats, as a decimal where a float would overflow."""
    values = list(numbers)
    if all(isinstance(value, int) for value in values):
        return sum(values)
    if not any(isinstance(value, Decimal) for value in values):
        near = float(sum(values))
        if math.isfinite(near):
            return near
    total = Decimal(0)
    for value in values:
        total = WIDE.add(total, Decimal(value))
    return _small(total)


def as_float(value: Fraction) -> float | Decimal:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def collected(values: list[Any], exact: bool) -> Column:
    """Return a column of single results; fractions among them are counts and sums."""
    if exact:
        plain = [int(value) if isinstance(value, Fraction) else value for value in values]
    else:
        plain = [as_float(value) if isinstance(value, Fraction) else value for value in values]
    kinds = {type(value) for value in plain}
    if kinds <= {int} and all(-(2**63) <= value < 2**63 for value in plain):
        return np.array(plain, np.int64)
    if kinds <= {float}:
        return np.array(plain, np.float64)
    if kinds <= {int, float, Decimal, type(None)}:
        column = np.empty(len(plain), object)
        column[:] = plain
        return column
    return pa.array(plain)


def _small(value: Decimal) -> float | Decimal:
    near = float(value)
    return near if math.isfinite(near) else value


def each(calculate: Callable[[Any, Any], Any], totals: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Column:
    """Compute a column row by row; None where nothing was counted."""
    pairs = zip(totals.tolist(), counts.tolist(), strict=True)
    values = [calculate(total, count) if count else None for total, count in pairs]
    kinds = {type(value) for value in values}
    return np.array(values, np.float64 if kinds <= {float} else object)


def without_null(totals: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Column:
    found = counts != 0
    return totals if found.all() else np.where(found, totals.astype(object), np.array(None))
