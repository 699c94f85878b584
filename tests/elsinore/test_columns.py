from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from elsinore.connectors.rows.row_columns import DECIMAL, Values, arrow, joined, listed, text


def objects(*values: object) -> Values:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (objects(1, None), pa.int64()),
        (objects(-(2**63), 2**63 - 1), pa.int64()),
        (objects(2**63), DECIMAL),
        (objects(-(2**63) - 1, None), DECIMAL),
        (objects(10**76 - 1), DECIMAL),
        (objects(10**76), pa.string()),
        (objects(1.5, None), pa.float64()),
        (objects(1.5, 2**53), pa.float64()),
        (objects(1.5, 2**53 + 1), pa.string()),
        (objects(Decimal("1.41E+1505"), None), pa.string()),
        (objects(Decimal("1.41E+1505"), 2.5), pa.string()),
        (objects(None, None), pa.null()),
        (np.array([1, 2]), pa.int64()),
        (np.array([1.0]), pa.float64()),
        (pa.array(["a"]).dictionary_encode(), pa.string()),
    ],
)
def test_the_narrowest_column_that_rounds_nothing(values: Values, kind: pa.DataType) -> None:
    column = arrow(values)
    assert column.type == kind
    if pa.types.is_string(kind) and not isinstance(values, pa.Array):
        read = [None if value is None else Decimal(value) for value in column.to_pylist()]
        assert read == [None if value is None else Decimal(value) for value in values]
    else:
        assert column.to_pylist() == listed(values)


def test_every_digit_is_printed() -> None:
    number = 2**20_000 - 1
    digits = text(number)
    assert len(digits) == 6_021
    assert int(digits[-9:]) == number % 10**9
    assert int(digits[:9]) == number // 10 ** (6_021 - 9)


def test_parts_of_different_kinds_keep_their_values() -> None:
    parts = [np.array([2**62 + 1]), np.array([0.5]), objects(10**80, None), pa.array([7])]
    assert listed(joined(parts)) == [2**62 + 1, 0.5, 10**80, None, 7]


def test_parts_of_one_kind_stay_columns() -> None:
    assert joined([np.array([1]), np.array([2])]).dtype == np.int64
    letters = joined([pa.array(["a"]).dictionary_encode(), pa.array(["b"])])
    assert isinstance(letters, pa.Array)
    assert letters.to_pylist() == ["a", "b"]
