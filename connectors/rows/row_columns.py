"""Columns of rows: concatenation of parts, and conversion of numbers of any size to Arrow.

A number is never rounded to fit a column. Where int64 or float64 would round it, the column is decimal256 (integers of
up to 76 digits) or text with all digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.calendar_years import as_python
from elsinore.connectors.rows.widening import fitted, wider

Values: TypeAlias = npt.NDArray[Any] | pa.Array
"""int64, float64, objects (int of any size, float, Decimal, None), or an Arrow array."""

DECIMAL = pa.decimal256(76, 0)


def joined(parts: Sequence[Values]) -> Values:
    """Concatenate the parts, in a form that holds each value unchanged."""
    if len(parts) == 1:
        return _plain(parts[0]) if isinstance(parts[0], pa.Array) else parts[0]
    if all(isinstance(part, pa.Array) for part in parts):
        plain = [_plain(part) for part in parts]
        kinds = {part.type for part in plain} - {pa.null()} or {pa.null()}
        if len(kinds) == 1:
            (kind,) = kinds
            return pa.concat_arrays([part if part.type == kind else part.cast(kind) for part in plain])
        if any(pa.types.is_nested(kind) for kind in kinds):
            # Attributes of events became wider from one part to the next, or one part has events and another has not.
            kind = reduce(wider, kinds)
            return pa.concat_arrays(
                [chunk for part in plain for chunk in fitted(pa.chunked_array([part]), kind).chunks]
            )
    elif all(isinstance(part, np.ndarray) and part.dtype == parts[0].dtype for part in parts):
        return np.concatenate(parts)
    return objects(value for part in parts for value in listed(part))


def arrow(values: Values) -> pa.Array:
    """Return the narrowest Arrow column that holds every value unchanged."""
    if isinstance(values, pa.Array):
        return _plain(values)
    return pa.array(values) if values.dtype != object else _fitting(values.tolist())


def listed(values: Values) -> list[Any]:
    """Return Python values: int, float, Decimal, str, datetime (text if its year is not in 1 to 9999), None."""
    items: list[Any] = as_python(values) if isinstance(values, pa.Array) else values.tolist()
    return items


def at_places(values: Values, order: pa.Array) -> Values:
    """Return the values at these places."""
    return values.take(order) if isinstance(values, pa.Array) else values[order.to_numpy()]


def whole(times: pa.Array) -> Values:
    """Return numeric times, with whole floats as integers."""
    if not pa.types.is_floating(times.type):
        return times
    return objects(int(time) if time.is_integer() else time for time in times.to_pylist())


def exactly(numbers: pa.Array) -> Values:
    """Return numbers that were too large for a numeric column as Python values: int, float, Decimal, None."""
    return objects(None if digits is None else number(digits) for digits in numbers.cast(pa.string()).to_pylist())


def number(digits: str) -> int | float | Decimal:
    """Return the number that `text` wrote; Python's int refuses more than 4,300 digits."""
    if digits.lstrip("-").isdigit():
        return int(Decimal(digits))
    decimal = Decimal(digits)
    return float(digits) if text(float(decimal)) == digits else decimal


def text(value: object) -> str:
    """Return a number with all its digits; Python's str refuses integers of more than 4,300."""
    return format(Decimal(value), "f") if isinstance(value, int) else str(value)


def _plain(values: pa.Array) -> pa.Array:
    """Return values by themselves where they are references into a dictionary, as texts and whole events are."""
    if pa.types.is_list(values.type) and pa.types.is_dictionary(values.type.value_type):
        items = values.flatten()
        offsets = values.offsets.to_numpy() - values.offsets[0].as_py()
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items.dictionary.take(items.indices))
    return values.dictionary.take(values.indices) if pa.types.is_dictionary(values.type) else values


def objects(values: Iterable[object]) -> npt.NDArray[Any]:
    """Return the values as an array of objects."""
    items = list(values)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _fitting(values: list[Any]) -> pa.Array:
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if not kinds:
        return pa.nulls(len(values))
    if kinds <= {int}:
        return _integers(values, present)
    if kinds <= {int, float} and all(abs(value) <= 2**53 for value in present if isinstance(value, int)):
        return pa.array(values, pa.float64())
    if len(kinds) > 1 or kinds == {Decimal}:
        return pa.array([None if value is None else text(value) for value in values], pa.string())
    return pa.array(values)


def _integers(values: list[Any], present: list[int]) -> pa.Array:
    least, most = min(present, default=0), max(present, default=0)
    if least >= -(2**63) and most < 2**63:
        return pa.array(values, pa.int64())
    if max(-least, most) < 10**76:
        return pa.array([None if value is None else Decimal(value) for value in values], DECIMAL)
    return pa.array([None if value is None else text(value) for value in values], pa.string())
