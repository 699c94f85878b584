"""Rows of a group whose partitions are spread are added up, however large their numbers are."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from actors.partial_rows import Part, PartialRows, merged

HUGE = Decimal("1e400")


def rows(values: Any) -> PartialRows:
    """A row of one window each, of groups 0, 1 ..."""
    count = len(values)
    zeros = np.zeros(count, np.int64)
    return PartialRows("q", zeros, zeros + 10, {"g": pa.array(range(count))}, {"COUNT(*)": Part("COUNT", values)})


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
