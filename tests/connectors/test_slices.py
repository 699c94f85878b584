"""Test slices of a long stream: by Spark's partitions where files are in order of time, else repartitioned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elsinore.connectors.formats.parquet_files import has_all, row_group_bounds
from elsinore.connectors.spark.dealing import BEGINNING
from elsinore.connectors.spark.slices import RowGroup, Slice, at_panes, by_cuts, in_one, in_order

A, B = Path("/a"), Path("/b")


def groups(path: Path, *bounds: tuple[int, int]) -> list[RowGroup]:
    """Return row groups of 100 bytes and 10 events, with these times."""
    return [RowGroup(path, 100 * n, 100 * n + 100, 10, first, last) for n, (first, last) in enumerate(bounds)]


def test_partitions_in_order_of_time_follow_one_another() -> None:
    row_groups = groups(A, (0, 9), (10, 19), (20, 29), (30, 39))
    # Spark orders partitions by size; bytes outside of row groups are in no partition.
    read = [[("/a", 200, 400)], [("/a", 0, 100)], [("/a", 100, 200)], [("/a", 400, 450)]]
    assert in_order(read, row_groups, 20, 1) == [Slice((1, 2), 20), Slice((0,))]
    assert in_order(read, row_groups, 10, 7) == [Slice((1,), 7), Slice((2,), 14), Slice((0,))]
    # A pane as long as the whole stream gives no place to cut.
    assert in_order(read, row_groups, 10, 100) == [Slice((1,), 0), Slice((2,), 20), Slice((0,))]


def test_a_row_group_that_lies_in_two_partitions_holds_the_watermark_of_both() -> None:
    row_groups = [RowGroup(A, 0, 150, 10, 5, 9), RowGroup(A, 150, 300, 10, 10, 19)]
    read = [[("/a", 0, 100)], [("/a", 100, 200)], [("/a", 200, 300)]]
    # Only the middle of the first row group decides its reader, so the second partition may read it.
    assert in_order(read, row_groups, 10, 1) == [Slice((0,), 5), Slice((1, 2))]


def test_files_in_no_order_are_left_to_spark() -> None:
    row_groups = groups(A, (0, 100), (0, 100), (0, 100), (0, 100))
    read = [[("/a", 100 * n, 100 * n + 100)] for n in range(4)]
    assert in_order(read, row_groups, 10, 1) is None
    assert in_order(read, row_groups, 20, 1) is not None


def test_row_groups_that_are_too_large_are_left_to_spark() -> None:
    row_groups = [*groups(A, (0, 9)), *groups(B, (10, 19))]
    assert in_order([[("/a", 0, 100)], [("/b", 0, 100)]], row_groups, 4, 1) is None


def test_other_slices() -> None:
    assert at_panes([12, 25, 25, 37], 10) == (10, 20, 30)
    assert at_panes([25, 12, 14], 10) == (10, 14, 20)
    assert at_panes([3, 5, 8], 100) == (0, 5, 8)
    assert in_one(3) == [Slice((0, 1, 2), BEGINNING)]
    assert by_cuts([5, 9]) == [Slice((0,), 5), Slice((1,), 9), Slice((2,), BEGINNING)]


@pytest.mark.parametrize(
    ("values", "row_groups"),
    [
        (["A", "B"], True),
        (["", "B"], False),
        (["A", None], False),
        ([1, 2], True),
        ([1, None], False),
        ([1.0, 2.0], False),
        ([None, None], False),
    ],
)
def test_what_a_file_tells_of_its_values(tmp_path: Path, values: list[Any], row_groups: bool) -> None:
    pq.write_table(pa.table({"v": values}), tmp_path / "v.parquet")
    with pq.ParquetFile(tmp_path / "v.parquet") as file:
        assert has_all(file, "v") is row_groups
        assert not has_all(file, "w")


def test_what_row_groups_tell(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"u": np.arange(100), "v": np.arange(100)}), path, row_group_size=40)
    with pq.ParquetFile(path) as file:
        found = row_group_bounds(file, "v")
    assert found is not None
    assert [(one.events, one.bounds.to_pylist()) for one in found] == [(40, [0, 39]), (40, [40, 79]), (20, [80, 99])]
    assert 0 < found[0].start < found[0].end <= found[1].start < found[2].end < path.stat().st_size


def test_statistics_are_those_of_the_column_however_others_are_nested(tmp_path: Path) -> None:
    """Test that the parts of a nested column count one by one in a row group."""
    columns = {"s": [{"a": 1, "b": 2}] * 2, "n": [7, 9], "time": [100, 200], "type": ["A", "B"]}
    pq.write_table(pa.table(columns), tmp_path / "nested.parquet")
    with pq.ParquetFile(tmp_path / "nested.parquet") as file:
        [found] = row_group_bounds(file, "time") or []
        assert found.bounds.to_pylist() == [100, 200]
        assert has_all(file, "type")
        assert row_group_bounds(file, "s") is None
        assert not has_all(file, "s")
