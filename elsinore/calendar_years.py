"""Conversion of times that Python's calendar cannot hold: those before year 1 and after year 9999.

Events with such times are dead letters, but windows of legal events may begin or end there, and attributes may hold
any 64 bits. The Gregorian calendar repeats itself every 400 years, so such a time is written as the same day of a year
that every library supports, with the year corrected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
"""The first and the last second of the calendar, UTC, since 1970."""

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

CYCLE_YEARS, CYCLE_DAYS, DAY_SECONDS = 400, 146_097, 86_400

PLAIN_YEARS = 30_000
"""Years from 1970, to either side, within which Arrow's text of a time is used; Arrow keeps years in 16 bits."""


def calendar_bounds(unit: str) -> tuple[int, int]:
    """Return the first and the last time of the calendar, counted in a unit of timestamps."""
    factor = PER_SECOND[unit]
    return FIRST_SECOND * factor, LAST_SECOND * factor + factor - 1


def as_python(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the values as Python objects; a time outside Python's calendar is a text in ISO 8601."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        values = [_as_python(value) for value in column]
    return values


def rows_as_python(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows as dicts, with times as `as_python` returns them."""
    columns = [as_python(column) for column in table.columns]
    return [dict(zip(table.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def in_order(column: pa.Array) -> list[Any]:
    """Return the values as Python objects that can be compared; a time is its integer count of units."""
    import pyarrow as pa

    kind = column.type
    if not pa.types.is_temporal(kind) or pa.types.is_interval(kind):
        found: list[Any] = column.to_pylist()
        return found
    numbers: list[Any] = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    return numbers


def as_texts(times: pa.Array) -> pa.Array:
    """Return times as Arrow writes them, correcting years that do not fit into Arrow's 16 bits."""
    import numpy as np
    import pyarrow as pa

    counted = _counted(times)
    if counted is None or not out_of_reach(times):
        return times.cast(pa.string())
    reach = _reach(times.type)
    numbers = counted.fill_null(0).to_numpy()
    texts = times.cast(pa.string()).to_pylist()
    for row in np.flatnonzero((numbers >= reach) | (numbers <= -reach)).tolist():
        if texts[row] is not None:
            texts[row] = _text(int(numbers[row]), times.type)
    return pa.array(texts, pa.string())


def out_of_reach(column: pa.Array | pa.ChunkedArray) -> bool:
    """Return whether Arrow would write one of these values with a wrong year."""
    import pyarrow.compute as pc

    counted = _counted(column)
    if counted is None:
        return False
    bounds = pc.min_max(counted)
    return any(
        bound.as_py() is not None and not -_reach(column.type) < bound.as_py() < _reach(column.type)
        for bound in bounds.values()
    )


def _reach(kind: pa.DataType) -> int:
    return PLAIN_YEARS * CYCLE_DAYS // CYCLE_YEARS * _per_day(kind)


def _as_python(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        import pyarrow as pa

        if pa.types.is_struct(value.type):
            return {field.name: _as_python(value[place]) for place, field in enumerate(value.type)}
        if pa.types.is_list(value.type):
            return as_python(value.values)
        alone = pa.array([value], value.type)
        counted = _counted(alone)
        if counted is None:
            return str(alone.cast(pa.string())[0])
        return _iso(counted[0].as_py(), value.type)


def _counted(times: Any) -> Any:
    """Return dates and timestamps as their integer counts of units; None for values of other types."""
    import pyarrow as pa

    kind = times.type
    if pa.types.is_date32(kind):
        return times.cast(pa.int32()).cast(pa.int64())
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        return times.cast(pa.int64())
    return None


def _per_day(kind: pa.DataType) -> int:
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return 1
    return DAY_SECONDS * PER_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]


def _within(number: int, kind: pa.DataType) -> tuple[pa.Array, int]:
    """Return the time on the same day of the 400-year cycle in the years 1970 to 2369, and the difference in years."""
    import pyarrow as pa

    cycles, rest = divmod(number, CYCLE_DAYS * _per_day(kind))
    plain = pa.array([rest], pa.int32() if pa.types.is_date32(kind) else pa.int64())
    return plain.cast(kind), cycles * CYCLE_YEARS


def _text(number: int, kind: pa.DataType) -> str:
    import pyarrow as pa

    near, years = _within(number, kind)
    return _with_year(near.cast(pa.string())[0].as_py(), years)


def _iso(number: int, kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        # Python's calendar holds it, but pandas overflows when it applies a time zone near the end of the 64 bits.
        text = pa.scalar(number // 1000, pa.timestamp("us", kind.tz)).as_py().isoformat(timespec="microseconds")
        return f"{text[:26]}{number % 1000:03}{text[26:]}"
    near, years = _within(number, kind)
    return _with_year(near[0].as_py().isoformat(), years)


def _with_year(text: str, more: int) -> str:
    year = int(text[:4]) + more
    return f"{'-' if year < 0 else ''}{abs(year):04}{text[4:]}"
