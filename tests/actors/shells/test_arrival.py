"""Events of one time are taken in the order in which they arrived, and their numbers tell it to other engines."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.detection.match_rows import ARRIVAL
from elsinore.actors.shells.blocks_in import ALL_GROUPS, ARRIVED, READ, batch_of, numbered


def block(ticks: list[int], numbers: list[int], column: str) -> pa.Table:
    return pa.table(
        {
            "kind": pa.array([0] * len(ticks), pa.int16()),
            "ticks": ticks,
            "a_v": [10 * number for number in numbers],
            "g_0": pa.array([0] * len(ticks), pa.int16()),
            column: numbers,
        }
    )


def test_numbers_of_batches_partitions_and_rows_ascend() -> None:
    """Spark numbers the events of each batch from 0 on, those of a partition from 2^33 times its number."""
    places = list(product([1, 2, 900_000], [0, 1, 30_000], [0, 1, 2**27]))
    found = [
        numbered(pa.table({READ: [(partition << 33) + row]}), batch).column(ARRIVED)[0].as_py()
        for batch, partition, row in places
    ]
    assert found == sorted(set(found))
    assert found[0] >= 0


def test_numbers_of_a_run_are_those_of_files_and_rows() -> None:
    table = pa.table({READ: [5, 2**60]})
    assert numbered(table, None).column(ARRIVED).to_pylist() == [5, 2**60]
    assert numbered(pa.table({ARRIVED: [7]}), 3).column(ARRIVED).to_pylist() == [7]
    assert numbered(pa.table({"kind": [1]}), 3).column_names == ["kind"]


@pytest.mark.parametrize("seed", range(5))
def test_events_of_one_time_are_taken_by_arrival(seed: int) -> None:
    random = np.random.default_rng(seed)
    ticks, numbers = random.integers(0, 4, 40).tolist(), random.permutation(40).tolist()
    found = batch_of(block(ticks, numbers, ARRIVED), 0, ALL_GROUPS, ["A"], ["v"])
    times, arrivals = found.column(1).to_pylist(), found.column(ARRIVAL).to_pylist()
    assert [value // 10 for value in found.column("v").to_pylist()] == arrivals
    for time in range(4):
        own = [number for at, number in zip(times, arrivals, strict=True) if at == time]
        assert own == sorted(number for at, number in zip(ticks, numbers, strict=True) if at == time)


def test_events_in_order_are_not_moved() -> None:
    """They may be in the order of arrival, or in that of time and arrival as a dealer hands them out."""
    for ticks, numbers in ([[3, 1, 1, 2], [0, 4, 6, 9]], [[1, 1, 2, 3], [4, 6, 9, 0]]):
        found = batch_of(block(ticks, numbers, ARRIVED), 0, ALL_GROUPS, ["A"], ["v"])
        assert found.column(1).to_pylist() == ticks
        assert found.column(ARRIVAL).to_pylist() == numbers


def test_events_without_numbers_have_none() -> None:
    events = block([2, 1], [0, 1], ARRIVED).drop_columns([ARRIVED])
    assert batch_of(events, 0, ALL_GROUPS, ["A"], ["v"]).schema.names == ["type", "time", "v"]
