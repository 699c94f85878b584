"""A Delta table has the rows of a batch once, however many pieces it comes in, and whatever types they have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from elsinore.connectors.errors import InputError
from elsinore.connectors.live_sinks import LiveSink, open_live_sink
from elsinore.connectors.rows.row_tables import columns_of, mixed_columns
from elsinore.inputs import checked

WORKLOAD = """
QUERY single RETURN MATCHES PATTERN SEQ(A, B) WITHIN 5 seconds;
QUERY several RETURN MATCHES PATTERN SEQ(A+, C) WITHIN 5 seconds;
QUERY flat RETURN MATCHES d.x AS C PATTERN SEQ(A a, D d) WITHIN 5 seconds
"""

EVENT = {"type": "A", "time": 1, "n": 7}


def sink(path: Path, mixed: frozenset[str] = frozenset()) -> LiveSink:
    return open_live_sink(path, {}, "a stream", mixed=mixed)


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    return found


def piece(numbers: pa.Array, **others: pa.Array) -> pa.Table:
    return pa.table({"query": ["q"] * len(numbers), "n": numbers, **others})


def test_the_pieces_of_a_batch_are_one_commit(tmp_path: Path) -> None:
    path = tmp_path / "rows.delta"
    large = pa.array([Decimal(2**70)], pa.decimal256(76, 0))
    parts = [piece(pa.array([1, 2])), piece(large), piece(pa.nulls(1)), piece(pa.array([4] * 70_000))]
    sink(path).write(3, iter(parts))
    assert [row["n"] for row in rows(path)] == [1, 2, 2**70, None, *[4] * 70_000]
    assert DeltaTable(str(path)).version() == 0
    left = iter(parts)
    sink(path).write(3, left)
    assert len(rows(path)) == 70_004
    assert next(left, None) is None
    sink(path).write(4, iter(parts[:1]))
    assert len(rows(path)) == 70_006


def test_a_batch_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.delta"
    sink(path).write(1, [piece(pa.array([1]))])

    def failing() -> Iterator[pa.Table]:
        yield from [piece(pa.array([2])), piece(pa.array([3]))]
        raise OSError("a node was lost")

    with pytest.raises(OSError, match="lost"):
        sink(path).write(2, failing())
    too_long = pa.array([Decimal(10**40)], pa.decimal256(76, 0))
    with pytest.raises(InputError, match="n has a value of more than 38 digits"):
        sink(path).write(2, [piece(pa.array([2])), piece(too_long)])
    with pytest.raises(InputError, match="n has a value of more than 38 digits"):
        sink(path).write(2, [piece(too_long)])
    assert [row["n"] for row in rows(path)] == [1]
    sink(path).write(2, [piece(pa.array([2])), piece(pa.array([3]))])
    assert sorted(row["n"] for row in rows(path)) == [1, 2, 3]


def test_columns_that_hold_events_of_some_queries_alone_are_known() -> None:
    workload = checked(WORKLOAD)
    assert mixed_columns(workload) == {"A", "C"}
    assert set(columns_of(workload)["single"]) == {"start", "end", "A", "B"}
    assert mixed_columns(checked("RETURN MATCHES PATTERN SEQ(A+, B) WITHIN 5 seconds")) == frozenset()


@pytest.mark.parametrize("pieces", [1, 2])
def test_an_event_in_one_query_and_a_list_in_another_are_json(tmp_path: Path, pieces: int) -> None:
    """Batches may have rows of one query alone, and either may come first."""
    path = tmp_path / "rows.delta"
    single = piece(pa.array([1]), A=pa.array([EVENT]), B=pa.array([EVENT]))
    several = piece(pa.array([3]), A=pa.array([[EVENT, EVENT]]), B=pa.nulls(1))
    none = piece(pa.array([2]), A=pa.nulls(1), B=pa.nulls(1))
    for batch, part in enumerate((single, none, several), start=1):
        sink(path, frozenset({"A"})).write(batch, [part] * pieces)
    found = sorted(rows(path), key=lambda row: int(row["n"]))
    assert [json.loads(row["A"]) for row in found if row["A"]] == [EVENT] * pieces + [[EVENT, EVENT]] * pieces
    assert [row["B"] for row in found] == [EVENT] * pieces + [None] * 2 * pieces


def test_a_column_of_a_table_keeps_its_type_when_queries_change(tmp_path: Path) -> None:
    path, other = tmp_path / "rows.delta", tmp_path / "other.delta"
    single = piece(pa.array([1]), A=pa.array([EVENT]))
    sink(path, frozenset({"A"})).write(1, [single])
    sink(path).write(2, [single])
    assert [json.loads(row["A"]) for row in rows(path)] == [EVENT, EVENT]
    sink(other).write(1, [single])
    with pytest.raises(InputError, match="holds events in the column A"):
        sink(other, frozenset({"A"})).write(2, [single])
