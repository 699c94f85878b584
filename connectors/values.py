"""Python values as columns: for events that come as dicts, and for lines of JSON that Arrow refuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

LARGEST = 2**63
EXACT_IN_FLOAT = 2**53
"""The whole numbers up to here, and none beyond, all have a float of their own."""

_LONG_WHOLE = re.compile(rb"(?<![.\d])\d{16,}(?![.\deE])")
"""A whole number of so many digits that it can be beyond `EXACT_IN_FLOAT`."""

_NO_NUMBER = re.compile(rb":\s*-?(?:NaN|Inf)")

_PANDAS_NULLS = frozenset({"NAType", "NaTType"})

Kind = str
"""number, text, truth value, time, or the name of a class that is none of these."""


def is_null(value: Any) -> bool:
    """Null as Python, NumPy and pandas say it."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _PANDAS_NULLS


def is_far_time(value: Any) -> bool:
    """Is this a time of msgpack's that no datetime holds?"""
    return type(value).__name__ == "Timestamp" and not isinstance(value, datetime)


def kind_of(value: Any) -> Kind | None:
    """What sort of value this is; none for null."""
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
    """The kind that most of the values are of; none where all are null."""
    kinds = Counter(kind for kind in map(kind_of, values) if kind is not None)
    return kinds.most_common(1)[0][0] if kinds else None


def type_of(values: Sequence[Any]) -> pa.DataType:
    """The column type of most of these values out of a JSON document."""
    kind = usual_kind(values)
    if kind == "number":
        floats = any(isinstance(value, float) for value in values)
        return pa.float64() if floats else pa.int64()
    known: dict[Kind | None, pa.DataType] = {None: pa.null(), "truth value": pa.bool_(), "text": pa.string()}
    return known.get(kind, pa.struct([]))


def fit(values: Sequence[Any], kind: pa.DataType) -> tuple[pa.Array, list[int]]:
    """The values as a column of this type, and the rows (null in it) whose values do not fit.

    A column of integers in which floats turn up becomes one of floats.
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
    """Return whether Arrow may have rounded a whole number of this text, which it does where a column holds floats.

    A whole number that is rounded becomes a float of at least 2**53, which few columns hold, so the text is searched
    seldom. A float's own digits are meant to be rounded: it stands for the nearest float, unless there is none.
    """
    largest = max((_largest(column) for column in columns.columns if pa.types.is_floating(column.type)), default=0.0)
    return largest == float("inf") or (largest >= EXACT_IN_FLOAT and _LONG_WHOLE.search(data) is not None)


def says_no_number(data: bytes) -> bool:
    """Return whether this JSON seems to have a NaN or an infinity, which are none of JSON's but which Arrow takes."""
    return (b"NaN" in data or b"Inf" in data) and _NO_NUMBER.search(data) is not None


def _largest(column: pa.Array | pa.ChunkedArray) -> float:
    bounds = pc.min_max(column)
    return max((abs(bound.as_py()) for bound in bounds.values() if bound.is_valid), default=0.0)
