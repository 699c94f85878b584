"""Columns of integers that compare as the values of two expressions do, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import EXACT_IN_FLOAT, Values
from elsinore.actors.columns.lanes import float_keys
from elsinore.actors.detection.comparing_numba_fns import NO_LEFT, NO_RIGHT
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import Expression

Ints = npt.NDArray[np.int64]


def comparable(left: Values, right: Values, about: Expression, query: str) -> tuple[Ints, Ints]:
    """Return keys of the left and the right side of a comparison by <, <=, = or !=.

    A null has a key with which the comparison is false. Numbers of 64 bits are their own keys, or have the keys of
    floats. Values of other kinds, and integers that a float would round, have ranks among all values of both sides.
    """
    a, b = _integers(left, right, about, query)
    return np.where(left.valid, a, NO_LEFT), np.where(right.valid, b, NO_RIGHT)


def _integers(left: Values, right: Values, about: Expression, query: str) -> tuple[Ints, Ints]:
    if not left.valid.any() or not right.valid.any():
        return np.zeros(len(left.valid), np.int64), np.zeros(len(right.valid), np.int64)
    if left.numeric and right.numeric:
        return _numbers(left, right)
    if left.numeric or right.numeric:
        raise _unlike(left, right, about, query)
    try:
        one, other = _alike(left.data, right.data)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _unlike(left, right, about, query) from None
    return _ranked(one, other)


def _numbers(left: Values, right: Values) -> tuple[Ints, Ints]:
    a, b = left.data, right.data
    kinds = {a.dtype.kind, b.dtype.kind}
    if kinds == {"i"} and not (_has_extremes(left) or _has_extremes(right)):
        return a, b
    if "O" not in kinds and all(x.dtype.kind == "f" or _within(x, EXACT_IN_FLOAT) for x in (a, b)):
        return float_keys(a.astype(np.float64)), float_keys(b.astype(np.float64))
    values = sorted({*a[left.valid].tolist(), *b[right.valid].tolist()})
    rank = {value: number for number, value in enumerate(values)}
    return tuple(  # type: ignore[return-value]
        np.array([rank[v] if known else 0 for v, known in zip(x.data.tolist(), x.valid, strict=True)], np.int64)
        for x in (left, right)
    )


def _has_extremes(values: Values) -> bool:
    """Return whether a number is the key of a null."""
    data = values.data
    return bool(len(data)) and bool(data.max() == NO_LEFT or data.min() == NO_RIGHT)


def _within(data: npt.NDArray[np.int64], most: int) -> bool:
    return not len(data) or max(abs(int(data.min())), abs(int(data.max()))) <= most


def _alike(a: pa.Array, b: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return columns of one type; a text that is compared with a time is read as a time."""
    return (a.cast(b.type), b) if pa.types.is_string(a.type) else (a, b.cast(a.type))


def _ranked(a: pa.Array, b: pa.Array) -> tuple[Ints, Ints]:
    if not pa.types.is_string(a.type):
        return _whole(a), _whole(b)
    values = pc.unique(pa.concat_arrays([a, b])).drop_null()
    values = values.take(pc.array_sort_indices(values))
    return _places(a, values), _places(b, values)


def _whole(times: pa.Array) -> Ints:
    whole = times.cast(pa.int32() if times.type.bit_width == 32 else pa.int64())
    found: Ints = whole.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _places(column: pa.Array, values: pa.Array) -> Ints:
    found: Ints = pc.index_in(column, values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _unlike(left: Values, right: Values, about: Expression, query: str) -> WorkloadError:
    message = f"{about} compares {_kind(left)} with {_kind(right)}"
    hint = "compare numbers with numbers, texts with texts"
    return WorkloadError([Problem(message, hint, about.place, query)])


def _kind(values: Values) -> str:
    kind: Any = values.data.dtype if values.numeric else values.data.type
    return "numbers" if values.numeric else "texts" if pa.types.is_string(kind) else f"values of {kind}"
