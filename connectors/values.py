"""Conversion of Python values to columns, for events given as dicts and for JSON lines that Arrow refuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

INT64_END = 2**63
EXACT_IN_FLOAT = 2**53
"""The largest whole number up to which each has a float of its own."""

_LONG_WHOLE = re.compile(rb"(?<![.\d])\d{16,}(?![.\deE])")
"""Matches a whole number with so many digits that it may be beyond `EXACT_IN_FLOAT`."""

_NO_NUMBER = re.compile(rb":\s*-?(?:NaN|Inf)")

_PANDAS_NULLS = frozenset({"NAType", "NaTType"})

Kind = str
"""The kind of a value: number, text, truth value or time; for any other value, the name of its class."""


def is_null(value: Any) -> bool:
    """Return whether a value is null in Python, NumPy or pandas."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _PANDAS_NULLS


def is_far_time(value: Any) -> bool:
    """Return whether this is a msgpack timestamp that no datetime can hold."""
    return type(value).__name__ == "Timestamp" and not isinstance(value, datetime)


def kind_of(value: Any) -> Kind | None:
    """Return the kind of a value; None for null."""
    if is_null(value):
        return None
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, datetime | date) or is_far_time(value):
        return "time"
    return type(value).__name__


def usual_kind(values: Sequence[Any]) -> Kind | None:
    """Return the most frequent kind of the values; None if all are null."""
    kinds = Counter(kind for kind in map(kind_of, values) if kind is not None)
    return kinds.most_common(1)[0][0] if kinds else None


def type_of(values: Sequence[Any]) -> pa.DataType:
    """Return the column type for values of a JSON document, by their most frequent kind."""
    kind = usual_kind(values)
    if kind == "number":
        floats = any(isinstance(value, float) for value in values)
        return pa.float64() if floats else pa.int64()
    known: dict[Kind | None, pa.DataType] = {None: pa.null(), "truth value": pa.bool_(), "text": pa.string()}
    return known.get(kind, pa.struct([]))


def fit(values: Sequence[Any], kind: pa.DataType) -> tuple[pa.Array, list[int]]:
    """Return the values as a column of this type, and the rows whose values do not fit, which are null in it.

    A column of integers becomes one of floats if the values include floats.
    """
    allowed = _ALLOWED.get(kind, frozenset())
    classes = set(map(type, values))
    if kind == pa.int64() and float in classes:
        return fit(values, pa.float64())
    if classes <= allowed:
        try:
            return pa.array(values, kind), []
        except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
            pass
    misfits = [row for row, value in enumerate(values) if not _fits(value, kind, allowed)]
    bad = set(misfits)
    return pa.array([None if row in bad else value for row, value in enumerate(values)], kind), misfits


_NULL = type(None)
_ALLOWED: dict[pa.DataType, frozenset[type]] = {
    pa.int64(): frozenset({int, _NULL}),
    pa.float64(): frozenset({int, float, _NULL}),
    pa.bool_(): frozenset({bool, _NULL}),
    pa.string(): frozenset({str, _NULL}),
    pa.null(): frozenset({_NULL}),
}


def _fits(value: Any, kind: pa.DataType, allowed: frozenset[type]) -> bool:
    if type(value) not in allowed:
        return False
    try:
        pa.array([value], kind)
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
        return False
    return True


def may_be_rounded(data: bytes, columns: pa.Table | pa.RecordBatch) -> bool:
    """Return whether Arrow may have rounded a whole number of this text, as it does in columns of floats.

    A whole number that is rounded becomes a float of at least 2**53. Few columns hold one, so the text is rarely
    searched. The digits of a float may be rounded to the nearest float, unless there is none.
    """
    largest = max((_largest(column) for column in columns.columns if pa.types.is_floating(column.type)), default=0.0)
    return largest == float("inf") or (largest >= EXACT_IN_FLOAT and _LONG_WHOLE.search(data) is not None)


def says_no_number(data: bytes) -> bool:
    """Return whether this JSON seems to have a NaN or an infinity: JSON allows neither, but Arrow reads both."""
    return (b"NaN" in data or b"Inf" in data) and _NO_NUMBER.search(data) is not None


def _largest(column: pa.Array | pa.ChunkedArray) -> float:
    bounds = pc.min_max(column)
    return max((abs(bound.as_py()) for bound in bounds.values() if bound.is_valid), default=0.0)
