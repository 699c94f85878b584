"""FIRST, LAST and aggregates over the events that matches bind to a variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import Values, column_values
from elsinore.actors.detection.matches import Bound, Matches
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import Summary

Ints = npt.NDArray[np.int64]

SURELY_FITS = 2**62
"""Bound of sums that are added up in 64 bits."""


def summary(matches: Matches, asked: Summary) -> Values:
    """Return a value of all events of a variable, by match."""
    one = matches.bound[asked.variable]
    if asked.function == "COUNT":
        return Values(one.counts, np.ones(len(one), np.bool_))
    assert asked.attribute is not None
    return _summary(asked, one, matches.column(asked.attribute), matches.query)


def _summary(asked: Summary, one: Bound, column: pa.Array, query: str) -> Values:
    owner, rows = one.flat()
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)[rows]
        owner, rows = owner[known], rows[known]
    counts = np.bincount(owner, minlength=len(one))
    ends = np.cumsum(counts)
    if asked.function in ("FIRST", "LAST"):
        return column_values(column.take(_at(rows, ends - counts if asked.function == "FIRST" else ends - 1, counts)))
    values = column.take(pa.array(rows))
    if asked.function in ("MIN", "MAX"):
        return column_values(_extreme(asked.function, owner, values, counts))
    numbers = column_values(values)
    if not numbers.numeric:
        message = f"{asked} adds up values that are no numbers"
        raise WorkloadError([Problem(message, "take sums of numbers", asked.place, query)])
    return _added(asked.function, numbers.data, ends, counts)


def _extreme(function: str, owner: Ints, values: pa.Array, counts: Ints) -> pa.Array:
    table = pa.table({"owner": owner, "value": values})
    order = pc.sort_indices(table, [("owner", "ascending"), ("value", "ascending")]).to_numpy()
    ends = np.cumsum(counts)
    return values.take(_at(order, ends - counts if function == "MIN" else ends - 1, counts))


def _at(rows: npt.NDArray[Any], at: Ints, counts: Ints) -> pa.Array:
    """Return the rows at these places, null where nothing was counted."""
    return pa.array(np.append(rows, 0)[np.clip(at, 0, len(rows))].astype(np.int64), mask=counts == 0)


def _added(function: str, data: npt.NDArray[Any], ends: Ints, counts: Ints) -> Values:
    """Return sums, or averages: of integers exact, of floats as if they were added up without rounding."""
    some = counts > 0
    small = data.dtype.kind == "i" and _most(data) * int(counts.max(initial=0)) < SURELY_FITS
    sums: npt.NDArray[Any]
    if small:
        sums = np.diff(np.concatenate([[0], np.cumsum(data)])[np.concatenate([[0], ends])])
    else:
        add: Callable[[list[Any]], Any] = math.fsum if data.dtype.kind == "f" else sum
        listed = data.tolist()
        each = [add(listed[end - count : end]) for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
        sums = np.array(each, data.dtype if data.dtype.kind == "f" else object)
    if function == "SUM":
        return Values(sums, some)
    divisors = np.maximum(counts, 1)
    if small and _most(sums) <= 2**53:
        return Values(sums / divisors, some)
    averages = [total / count for total, count in zip(sums.tolist(), divisors.tolist(), strict=True)]
    return Values(np.array(averages, np.float64), some)


def _most(data: npt.NDArray[Any]) -> int:
    return max(abs(int(data.min())), abs(int(data.max()))) if len(data) else 0
