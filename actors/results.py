"""Rows from cells: what the aggregates of a query are, given the lanes."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.cells import Cells, Numbers, integers
from actors.lane_columns import LaneColumns, key_values, weighted
from planner.lanes import Lane
from planner.syntax import Aggregate

Column: TypeAlias = npt.NDArray[Any] | pa.Array
WIDE = Context(prec=40, Emax=10**17, Emin=-(10**17))


class Decoder:
    """Reads the aggregates of some items out of cells."""

    def __init__(self, columns: LaneColumns, cells: Cells) -> None:
        self.columns = columns
        self.cells = cells
        self.places = {lane: k for k, lane in reversed(list(enumerate((entry for entry in columns.sums), start=1)))}

    @property
    def trends(self) -> Column:
        return self._lane(0)

    def value(self, item: Aggregate) -> Column:
        if item.variable is None:
            return self.trends
        if item.function == "COUNT":
            return self._of(Lane("events", item.variable))
        over = self._of(Lane("values", item.variable, item.attribute))
        if item.function in ("MIN", "MAX"):
            return self._least(Lane("min" if item.function == "MIN" else "max", item.variable, item.attribute), over)
        total, power = self._sum(Lane("sum", item.variable, item.attribute))
        if item.function == "AVG":
            return _each(lambda a, b: _ratio(a, b, power), total, over)
        if not self.columns.is_float(Lane("sum", item.variable, item.attribute)):
            return _without_null(total, over)
        return _each(lambda a, _: _ratio(a, 1, power), total, over)

    def merged(self, item: Aggregate, parts: list[tuple[int, Fraction]]) -> Any:
        """An aggregate over some cells, each of whose trends counts so many times; null over no value."""
        assert item.variable is not None

        def total(numbers: npt.NDArray[Any]) -> Fraction:
            return sum((Fraction(numbers[row]) * times for row, times in parts), Fraction(0))

        if item.function == "COUNT":
            return total(self._of(Lane("events", item.variable)))
        if item.function in ("MIN", "MAX"):
            column = self.value(item)
            values = column.to_pylist() if isinstance(column, pa.Array) else column.tolist()
            found = [values[row] for row, _ in parts if values[row] is not None]
            return (min if item.function == "MIN" else max)(found) if found else None
        over = total(self._of(Lane("values", item.variable, item.attribute)))
        lane = Lane("sum", item.variable, item.attribute)
        numbers, power = self._sum(lane)
        added = total(numbers) * Fraction(2) ** power
        if not over:
            return None
        if item.function == "AVG":
            return as_float(added / over)
        return as_float(added) if self.columns.is_float(lane) else added

    def _of(self, lane: Lane) -> Column:
        return self._lane(self.places[lane, None])

    def _lane(self, place: int) -> npt.NDArray[Any]:
        numbers = self.cells.numbers[:, place]
        return integers(numbers) if self.columns.exact else floats(numbers)

    def _sum(self, lane: Lane) -> tuple[npt.NDArray[Any], int]:
        """Whole numbers of some power of two; approximate ones as they are."""
        low, high = self.columns.digits.get(lane, (0, 0))
        digits = [self._lane(self.places[lane, digit]) for digit in range(low, high + 1)]
        return (digits[0], 0) if low == high == 0 else weighted(digits, low)

    def _least(self, lane: Lane, over: npt.NDArray[Any]) -> Column:
        keys = self.cells.least[:, self.columns.minima.index(lane)]
        kind = self.columns.types.get(lane.attribute or "")
        found = over != 0
        if kind is None:
            return np.full(len(keys), None, object)
        values = key_values(np.where(found, keys, 0), kind, lane.kind == "max")
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            return pa.array(values, mask=~found.astype(np.bool_))
        data = values.to_numpy(zero_copy_only=False)
        return data if found.all() else np.where(found, data.astype(object), None)


def floats(numbers: Numbers) -> npt.NDArray[Any]:
    """Approximate numbers as floats, or as decimals where no float is so large."""
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


def _ratio(total: Any, count: Any, power: int) -> float | Decimal:
    """total · 2**power / count, correctly rounded where both are whole."""
    if isinstance(total, Decimal) or isinstance(count, Decimal):
        return _small(WIDE.divide(Decimal(total), Decimal(count)))
    if isinstance(total, float):
        return total / float(count)
    above, below = int(total) << max(power, 0), int(count) << max(-power, 0)
    try:
        return above / below
    except OverflowError:
        return WIDE.divide(Decimal(above), Decimal(below))


def as_float(value: Fraction) -> float | Decimal:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


def collected(values: list[Any], exact: bool) -> Column:
    """A column of single results; fractions among them are counts and sums."""
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


def _each(calculate: Callable[[Any, Any], Any], totals: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Column:
    """Row by row; null where nothing was counted."""
    pairs = zip(totals.tolist(), counts.tolist(), strict=True)
    values = [calculate(total, count) if count else None for total, count in pairs]
    kinds = {type(value) for value in values}
    return np.array(values, np.float64 if kinds <= {float} else object)


def _without_null(totals: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Column:
    found = counts != 0
    return totals if found.all() else np.where(found, totals.astype(object), np.array(None))
