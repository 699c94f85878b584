"""Times of every unit and form: the same windows, shown in the form they came in."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import elsinore
from elsinore.connectors.errors import EventError

WINDOWS = ["2 seconds SLIDE 2 seconds", "2 seconds SLIDE 500 ms", "2 seconds SLIDE 1 second", "2 seconds"]
SECONDS = [Fraction(n, 4) for n in (-9, -8, -3, 0, 0, 1, 2, 7, 8, 9, 30)]


def query(window: str) -> str:
    return f"RETURN COUNT(*), SUM(A.v) PATTERN A+ WITHIN {window}"


def table(times: pa.Array) -> pa.Table:
    return pa.table({"type": ["A"] * len(times), "time": times, "v": list(range(len(times)))})


def rows(times: pa.Array, window: str, **options: Any) -> list[dict[str, Any]]:
    return elsinore.run(query(window), table(times), **options).rows()


def expected(window: str) -> list[dict[str, Any]]:
    return rows(pa.array([int(time * 1000) for time in SECONDS]), window, time_unit="ms")


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("unit", "factor"), [("us", 10**6), ("ns", 10**9)])
def test_integers_of_every_unit(unit: str, factor: int, window: str) -> None:
    found = rows(pa.array([int(time * factor) for time in SECONDS]), window, time_unit=unit)
    assert len(found) > 4
    assert found == [shifted(row, lambda ms: ms * factor // 1000) for row in expected(window)]
    assert {type(row["window_start"]) for row in found} == {int}


@pytest.mark.parametrize("window", WINDOWS)
def test_floats_with_quarters_of_a_second(window: str) -> None:
    found = rows(pa.array([float(time) for time in SECONDS]), window)
    assert found == [shifted(row, lambda ms: ms / 1000) for row in expected(window)]
    assert {type(row["window_end"]) for row in found} == {float}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_timestamps(unit: str, zone: str | None, window: str) -> None:
    factor = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    kind = pa.timestamp(unit, zone)
    result = elsinore.run(query(window), table(pa.array([int(time * factor) for time in SECONDS]).cast(kind)))
    starts = result.to_arrow().column("window_start")
    assert starts.type == kind
    wanted = expected(window)
    assert starts.cast(pa.int64()).to_pylist() == [row["window_start"] * factor // 1000 for row in wanted]
    assert [row["SUM(A.v)"] for row in result.rows()] == [row["SUM(A.v)"] for row in wanted]


def test_whole_seconds_of_timestamps_and_windows_of_half_a_second() -> None:
    times = pa.array([0, 1, 1, 3], pa.timestamp("s", "UTC"))
    found = rows(times, "500 ms SLIDE 500 ms")
    zero = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert [(row["window_start"] - zero, row["window_end"] - zero, row["COUNT(*)"]) for row in found] == [
        (dt.timedelta(seconds=n), dt.timedelta(seconds=n, milliseconds=500), count)
        for n, count in ((0, 1), (1, 2), (3, 1))
    ]


def test_whole_seconds_and_windows_of_half_a_second() -> None:
    found = rows(pa.array([-1, 0, 1, 1]), "500 ms SLIDE 500 ms")
    assert [(row["window_start"], row["window_end"], row["COUNT(*)"]) for row in found] == [
        (-1, -0.5, 1), (0, 0.5, 1), (1, 1.5, 2)
    ]  # fmt: skip


@pytest.mark.parametrize("window", [*WINDOWS, "30 days"])
@pytest.mark.parametrize("far", [2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_times_too_far_away_are_bad_events(far: int, window: str) -> None:
    times = pa.array([1, far, 1])
    result = elsinore.run(query(window), table(times))
    assert result.metrics.dead == 1
    assert {row["COUNT(*)"] for row in result.rows()} == {2}
    with pytest.raises(EventError, match="out of range"):
        elsinore.run(query(window), table(times), strict=True)


@pytest.mark.parametrize("window", ["2 seconds SLIDE 2 seconds", "2 seconds SLIDE 1 second", "2 seconds"])
def test_large_times_that_can_be_counted_keep_every_digit(window: str) -> None:
    base = 2**61 - 7
    near = rows(pa.array([1, 2, 3, 8]), window)
    far = rows(pa.array([base + n for n in (1, 2, 3, 8)]), window)
    if base % 2 and "SLIDE 2" in window:
        near = [shifted(row, lambda time: time - 1) for row in rows(pa.array([2, 3, 4, 9]), window)]
    assert far == [shifted(row, lambda time: time + base) for row in near]


def shifted(row: dict[str, Any], change: Any) -> dict[str, Any]:
    return row | {"window_start": change(row["window_start"]), "window_end": change(row["window_end"])}


LONG = ["MATCHES PATTERN SEQ(A, B)", "COUNT(*) PATTERN SEQ(A, B)", "MATCHES PATTERN SEQ(A, B) WHERE [k]"]


@pytest.mark.parametrize("returns", LONG)
@pytest.mark.parametrize("form", [pa.timestamp("ns"), pa.float64()], ids=str)
def test_windows_that_64_bits_do_not_count_are_refused(returns: str, form: pa.DataType) -> None:
    """Times of floats are counted in nanoseconds too."""
    times = pa.array(range(4), pa.int64()).cast(form)
    events = pa.table({"type": ["A", "B"] * 2, "time": times, "k": [1, 1, 2, 2]})
    assert len(elsinore.run(f"RETURN {returns} WITHIN 40000 days", events, engine="local")) >= 2
    with pytest.raises(elsinore.InputError, match="too many ticks to be counted in 64 bits"):
        elsinore.run(f"RETURN {returns} WITHIN 60000 days", events, engine="local")


def test_partitions_whose_ticks_together_are_too_many_for_64_bits_are_searched_in_parts() -> None:
    count = 1000
    times = pa.array(range(2 * count), pa.int64()).cast(pa.timestamp("ns"))
    events = pa.table({"type": ["A", "B"] * count, "time": times, "k": [n // 2 for n in range(2 * count)]})
    query = "RETURN MATCHES PATTERN SEQ(A, B) WHERE [k] WITHIN {} days"
    for days in (40, 365):
        assert len(elsinore.run(query.format(days), events, engine="local")) == count
