"""Events fitted to the column types of their stream: values that fit are cast, and nothing is rounded or guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.columns import attribute_type, cast_or_null, read_attribute
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.values import EXACT_IN_FLOAT, fit, is_far_time, is_null, type_of, usual_kind
from elsinore.connectors.wire.arrow_events import is_null_alone
from elsinore.connectors.wire.raw import RawEvents

ARROW_TYPES: dict[str, pa.DataType] = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Types of columns, by their names; times without a zone and times with one are different types."""

COARSER = ("s", "ms")
"""Units of times that may be too far away to be counted in microseconds."""

ZONE = re.compile(r"\d(Z|[+-]\d\d(:?\d\d)?)$")


@dataclass(frozen=True)
class FittedEvents:
    table: pa.Table
    columns: dict[str, str]
    """Names and types of the columns that were not known before."""


def fitted(raw: RawEvents, names: Names, known: Mapping[str, str]) -> FittedEvents:
    """Return events as a table. An unusable type or time of a single event becomes null: the event is a dead letter."""
    arrays: dict[str, pa.Array] = {}
    new: dict[str, str] = {}
    for name, values in raw.columns.items():
        kind = known.get(name) or _kind(name, values, names)
        if kind is None:
            continue
        if name not in known:
            new[name] = kind
        if name not in (names.type, names.time) and isinstance(values, pa.Array) and is_null_alone(values):
            continue  # a column that is missing is null, and takes no memory
        arrays[name] = _column(name, values, kind, names)
    if not arrays:
        return FittedEvents(pa.table({names.type: pa.nulls(raw.events, pa.string())}), new)
    return FittedEvents(pa.table(arrays), new)


def _kind(name: str, values: list[Any] | pa.Array, names: Names) -> str | None:
    """Return the type that a new column keeps from now on; None if it holds only nulls."""
    if name == names.type:
        return "string"
    found = attribute_type(values.type) if isinstance(values, pa.Array) else _type(values)
    if pa.types.is_dictionary(found):
        found = pa.string()
    if pa.types.is_null(found):
        return None
    if name == names.time and pa.types.is_string(found):
        return _zone(values)
    if pa.types.is_timestamp(found):
        return "timestamp" if found.tz is not None else "timestamp_ntz"
    kind = next((kind for kind, type_ in ARROW_TYPES.items() if type_ == found), None)
    if kind is None:
        raise InputError(f"column {name!r} holds {_described(values)}; columns can hold {', '.join(ARROW_TYPES)}")
    return kind


def _type(values: list[Any]) -> pa.DataType:
    """Return the column type of values from JSON or msgpack; only msgpack has times."""
    if usual_kind(values) != "time":
        return type_of(values)
    zoned = any(getattr(value, "tzinfo", None) is not None or is_far_time(value) for value in values)
    return ARROW_TYPES["timestamp" if zoned else "timestamp_ntz"]


def _zone(values: list[Any] | pa.Array) -> str:
    texts = values.to_pylist() if isinstance(values, pa.Array) else values
    return "timestamp" if any(isinstance(one, str) and ZONE.search(one[10:]) for one in texts) else "timestamp_ntz"


def _column(name: str, values: list[Any] | pa.Array, kind: str, names: Names) -> pa.Array:
    if isinstance(values, pa.Array):
        return _from_arrow(name, values, kind, names)
    lenient = name in (names.type, names.time)
    if kind.startswith("timestamp"):
        return _times(name, values, kind, lenient)
    type_ = ARROW_TYPES[kind]
    if kind == "int64" and float in set(map(type, values)):
        values = _whole(name, values)
    array, misfits = fit(values, type_)
    misfits = [row for row in misfits if not is_null(values[row])]
    if misfits and not lenient:
        raise _misfit(name, kind, f"{_shown(values[misfits[0]])} in event {misfits[0]}")
    return _one_zero(array)


def _whole(name: str, values: list[Any]) -> list[Any]:
    """Return floats as whole numbers. From 2**53 on it is unknown which number was meant, so InputError is raised."""
    found = list(values)
    for row, value in enumerate(values):
        if isinstance(value, float):
            whole = isfinite(value) and value.is_integer()
            if isfinite(value) and not (whole and abs(value) < EXACT_IN_FLOAT):
                raise _misfit(name, "int64", f"{_shown(value)} in event {row}")
            found[row] = int(value) if whole else None
    return found


def _times(name: str, values: list[Any], kind: str, lenient: bool) -> pa.Array:
    """Return timestamps from Python's times and from ISO-8601 texts."""
    texts = [_iso(one) for one in values]
    array = _timed(pa.array(texts, pa.string()), kind)
    if not lenient and array.null_count > sum(map(is_null, values)):
        bad = next(row for row, one in enumerate(values) if not is_null(one) and not array[row].is_valid)
        raise _misfit(name, kind, f"{_shown(values[bad])} in event {bad}")
    return array


def _timed(texts: pa.Array, kind: str) -> pa.Array:
    return cast_or_null(texts, ARROW_TYPES[kind])


def _iso(value: Any) -> str | None:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    return value.isoformat() if hasattr(value, "isoformat") else None


def _from_arrow(name: str, values: pa.Array, kind: str, names: Names) -> pa.Array:
    if kind.startswith("timestamp") and pa.types.is_string(values.type):
        times = _timed(values, kind)
        if times.null_count > values.null_count and name not in (names.type, names.time):
            raise _misfit(name, kind, "texts that are not times")
        return times
    array = read_attribute(values, name)
    if pa.types.is_dictionary(array.type):
        array = array.cast(pa.string())
    numbers = (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)) and kind in ("int64", "float64")
    times = pa.types.is_timestamp(array.type) and array.type.tz is not None and kind == "timestamp"
    naive = pa.types.is_timestamp(array.type) and array.type.tz is None and kind == "timestamp_ntz"
    if not (numbers or times or naive or array.type == ARROW_TYPES[kind] or pa.types.is_null(array.type)):
        raise _misfit(name, kind, _described(values))
    if name == names.time and (times or naive) and array.type.unit in COARSER:
        # A time in a coarser unit may be too far away for microseconds: then only its event is dead.
        return cast_or_null(array, ARROW_TYPES[kind])
    return _one_zero(_cast(name, array, kind))


def _one_zero(array: pa.Array) -> pa.Array:
    """Return floats with one zero: readers take JSON's -0 as a whole number or as a float."""
    return pc.add(array, 0.0) if pa.types.is_floating(array.type) else array


def _cast(name: str, array: pa.Array, kind: str) -> pa.Array:
    try:
        return array.cast(ARROW_TYPES[kind])
    except pa.ArrowInvalid as error:
        raise _misfit(name, kind, f"{_described(array)} ({str(error).splitlines()[0]})") from None


def _misfit(name: str, kind: str, found: str) -> InputError:
    return InputError(
        f"column {name!r} is {kind}, but these events have {found}. The columns of a job keep their types: send "
        f"{kind}, or submit the workload with another type in columns, for instance "
        f'{{"{name}": "{"float64" if kind == "int64" else "string"}"}}'
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _described(values: list[Any] | pa.Array) -> str:
    if isinstance(values, pa.Array):
        return str(values.type)
    odd = next((one for one in values if not is_null(one)), None)
    return type(odd).__name__
