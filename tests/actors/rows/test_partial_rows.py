"""Rows of a group whose partitions are spread are added up, however large their numbers are."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.rows.partial_rows import PartialAggregate, PartialRows, merged
from elsinore.actors.rows.rows import Rows

HUGE = Decimal("1e400")


def rows(values: Any) -> PartialRows:
    """A row of one window each, of groups 0, 1 ..."""
    count = len(values)
    zeros = np.zeros(count, np.int64)
    return PartialRows(
        "q", zeros, zeros + 10, {"g": pa.array(range(count))}, {"COUNT(*)": PartialAggregate("COUNT", values)}
    )


def numbers(*values: Any) -> Any:
    column = np.empty(len(values), object)
    column[:] = values
    return column


@pytest.mark.parametrize(
    ("one", "other", "sums"),
    [
        (np.array([1, 2]), np.array([3, 4]), [4, 6]),
        (np.array([2**62, 1]), np.array([2**62, 1]), [2**63, 2]),
        (numbers(2**100, 1), np.array([1, 1]), [2**100 + 1, 2]),
        (np.array([1.5, 2.5]), np.array([1.0, 1.0]), [2.5, 3.5]),
        (np.array([1e308, 1.0]), np.array([1e308, 1.0]), [Decimal("1e308") * 2, 2.0]),
        (numbers(HUGE, 1.0), np.array([1.0, 1.0]), [HUGE, 2.0]),
        (numbers(HUGE, 1.0), numbers(2.0, HUGE), [HUGE, HUGE]),
    ],
)
def test_numbers_of_any_size_are_added(one: Any, other: Any, sums: list[Any]) -> None:
    found = merged([rows(one), rows(other)]).finished().values["COUNT(*)"]
    assert isinstance(found, np.ndarray)
    for value, wanted in zip(found.tolist(), sums, strict=True):
        assert abs(Decimal(value) - Decimal(wanted)) <= abs(Decimal(wanted)) * Decimal("1e-15")
        assert isinstance(value, type(wanted))


@pytest.mark.parametrize(("one", "other"), [(np.array([4, 4]), numbers(9, None)), (numbers(None, 9), np.array([4, 4]))])
def test_the_least_of_numbers_and_nulls_is_a_plain_number(one: Any, other: Any) -> None:
    """The actor whose trends of a group have no value of an attribute sends objects, and the others numbers."""
    zeros = np.zeros(2, np.int64)
    parts = [
        PartialRows("q", zeros, zeros + 10, {"g": pa.array([0, 1])}, {"": PartialAggregate("MIN", column)})
        for column in (one, other)
    ]
    found = merged(parts).finished().values[""]
    assert isinstance(found, np.ndarray)
    assert [(type(value), value) for value in found.tolist()] == [(int, 4), (int, 4)]


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        (np.array([1, 2]), numbers(None, 2**70), [1, None, 2, 2**70]),
        (pa.array([5, 6], pa.timestamp("s")), numbers(None, None), [5, None, 6, None]),
        (pa.array([5, None], pa.timestamp("s")), pa.array([7, 8], pa.timestamp("s")), [5, 7, None, 8]),
    ],
)
def test_whole_rows_are_put_together(one: Any, other: Any, values: list[Any]) -> None:
    """Nothing is added to them: each is of a window and group of its own."""
    windows = np.array([[0, 20], [10, 30]])
    found = [
        PartialRows.whole(Rows("q", start, start + 10, {}, {"MIN(A.v)": column}))
        for start, column in zip(windows, (one, other), strict=True)
    ]
    rows = merged(found).finished()
    assert rows.window_start.tolist() == [0, 10, 20, 30]
    column = rows.values["MIN(A.v)"]
    assert (column.cast(pa.int64()).to_pylist() if isinstance(column, pa.Array) else column.tolist()) == values
