"""Years beyond the calendar: events of them are dead letters, and every other time is shown, whatever its year."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import elsinore
from elsinore.calendar_years import FIRST_SECOND, LAST_SECOND, PER_SECOND, as_python, as_texts
from elsinore.connectors.sinks import open_sink
from elsinore.connectors.times import too_far
from elsinore.planner.time.clock import Clock

COUNTED = "RETURN COUNT(*) PATTERN A+ WITHIN 1 hour SLIDE 1 hour"
ZONES = [None, "UTC", "Asia/Tokyo", "America/New_York"]


def events(kind: pa.DataType, times: list[int | None]) -> pa.Table:
    return pa.table({"type": ["A"] * len(times), "time": pa.array(times, pa.int64()).cast(kind)})


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_timestamps_are_of_the_years_1_to_9999(unit: str, zone: str | None, tmp_path: Path) -> None:
    factor = PER_SECOND[unit]
    first, last = FIRST_SECOND * factor, LAST_SECOND * factor + factor - 1
    far = [last + 1, first - 1, 2**61, 2**62, -(2**62), 2**63 - 1, -(2**63)]
    table = events(pa.timestamp(unit, zone), [first, 0, last, *far])
    result = elsinore.run(COUNTED, table, dead_letters=tmp_path / "dead.jsonl")
    assert (result.metrics.dead, len(result)) == (len(far), 3)
    letters = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert [letter["row"] for letter in letters] == list(range(3, 3 + len(far)))
    assert all("years 1 to 9999" in letter["reason"] for letter in letters)
    with pytest.raises(elsinore.EventError, match="years 1 to 9999"):
        elsinore.run(COUNTED, table, strict=True)
    # The last window ends in year 10000.
    assert result.to_arrow()["window_end"].cast(pa.int64()).to_pylist()[-1] == (LAST_SECOND + 1) * factor
    last_end = result.rows()[-1]["window_end"]
    assert (
        last_end == "10000-01-01T00:00:00" if zone is None else "T" in str(last_end) or isinstance(last_end, datetime)
    )
    assert repr(result)
    assert result._repr_html_()
    for suffix in (".jsonl", ".csv", ".parquet"):
        with open_sink(tmp_path / f"rows{suffix}", result.columns) as sink:
            sink.write(result.to_arrow())
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    if zone in (None, "UTC"):
        assert rows[-1]["window_end"].startswith("10000-01-01T00:00:00")
        assert "10000-01-01 00:00:00" in (tmp_path / "rows.csv").read_text()
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == pacsv.read_csv(tmp_path / "rows.csv").num_rows == 3


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_dates_too(kind: pa.DataType) -> None:
    days = [0, 2_932_896, 2_932_897, -719_162, -719_163, 2**31 - 1, -(2**31)]
    dates = pa.array(days, pa.int32()).cast(pa.date32())
    table = pa.table({"type": ["A"] * 7, "time": dates.cast(kind) if kind == pa.date64() else dates})
    result = elsinore.run(COUNTED, table)
    assert (result.metrics.dead, len(result.rows())) == (4, 3)


def test_numbers_have_no_calendar() -> None:
    table = pa.table({"type": ["A"] * 2, "time": [LAST_SECOND + 1, 2**61]})
    assert elsinore.run(COUNTED, table).metrics.dead == 0


def test_a_time_that_is_shown_in_a_finer_unit_does_not_wrap() -> None:
    """Halves of a microsecond are shown in nanoseconds, which end in 2262."""
    seconds = 400 * 365 * 86_400
    table = events(pa.timestamp("us", "UTC"), [0, seconds * 10**6])
    result = elsinore.run("RETURN COUNT(*) PATTERN A+ WITHIN 0.0015 ms SLIDE 0.0015 ms", table)
    assert (result.metrics.dead, [row["window_start"].year for row in result.rows()]) == (1, [1970])


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_attributes_of_any_year_are_shown(unit: str, zone: str | None, tmp_path: Path) -> None:
    factor = PER_SECOND[unit]
    values = [0, min((LAST_SECOND + 1) * factor, 2**62), 2**61, -(2**61), 2**63 - 1, None, 1 - 2**63]
    at = pa.array(2 * values, pa.timestamp(unit, zone))
    table = pa.table({"type": [*"AAAAAAABBBBBBB"], "time": list(range(14)), "at": at})
    grouped = "QUERY g RETURN at, COUNT(*) PATTERN A GROUP-BY at WITHIN 1 hour SLIDE 1 hour"
    both = "QUERY m RETURN MIN(A.at), MAX(B.at) PATTERN A+ & B+ WITHIN 1 hour SLIDE 1 hour"
    extremes = "QUERY e RETURN MIN(A.at), MAX(A.at) PATTERN A+ WITHIN 1 hour SLIDE 1 hour"
    result = elsinore.run(f"{grouped}; {extremes}; {both}", table)
    assert len(result.query("g").rows()) == 6
    [row] = result.query("e").rows()
    assert str(row["MIN(A.at)"])[:1] in "-12"
    assert len(result.query("m").rows()) == 1
    assert repr(result)
    for suffix in (".jsonl", ".csv", ".parquet"):
        with open_sink(tmp_path / f"rows{suffix}", result.columns) as sink:
            sink.write(result.to_arrow())
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line)["query"] for line in lines] == [*"gggggg", "e", "m"]
    if unit == "us" and zone is None:
        shown = {json.loads(line).get("at") for line in lines}
        assert {"294247-01-10T04:00:54.775807", "10000-01-01T00:00:00.000000"} <= shown


@pytest.mark.parametrize("kind", [pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("s", "Asia/Tokyo")])
def test_times_of_the_calendar_are_what_they_were(kind: Any) -> None:
    rnd = np.random.default_rng(4)
    seconds = rnd.integers(FIRST_SECOND + 10**5, LAST_SECOND - 10**5, 200)
    column = pa.array(seconds * PER_SECOND[kind.unit], pa.int64()).cast(kind)
    assert as_python(column) == column.to_pylist()
    assert as_texts(column).equals(column.cast(pa.string()))


def test_times_beyond_it_are_those_of_400_years_before() -> None:
    """The calendar repeats itself: what is known of one of these years is known of all."""
    rnd = np.random.default_rng(5)
    cycle = 146_097 * 86_400
    for cycles in (20, 30, 700, -20, -800):
        seconds = rnd.integers(0, cycle, 50)
        near = [time.isoformat() for time in pa.array(seconds).cast(pa.timestamp("s")).to_pylist()]
        far = as_python(pa.array(seconds + cycles * cycle).cast(pa.timestamp("s")))
        years = [int(text[:4]) + 400 * cycles for text in near]
        expected = [
            f"{'-' if year < 0 else ''}{abs(year):04}{text[4:]}" for year, text in zip(years, near, strict=True)
        ]
        assert [one if isinstance(one, str) else one.isoformat() for one in far] == expected


def test_of_the_times_of_a_clock_those_are_too_far_that_no_calendar_holds() -> None:
    clock = Clock.of(pa.timestamp("us"), "s", [])
    times = pa.array([0, None, LAST_SECOND * 10**6, (LAST_SECOND + 1) * 10**6], pa.timestamp("us"))
    found = too_far(times, clock)
    assert found is not None
    assert found.tolist() == [False, False, False, True]
    assert too_far(times[:3], clock) is None


@pytest.mark.parametrize("year", [32_000, 32_767, 32_768, 33_000, 33_969])
def test_years_that_arrow_counts_in_sixteen_bits_are_written_rightly(year: int) -> None:
    days = (year - 2000) // 400 * 146_097
    near = 2000 + (year - 2000) % 400
    seconds = int((np.datetime64(f"{near:04}-03-01") - np.datetime64("1970-01-01")).astype(int) + days) * 86_400
    [text] = as_texts(pa.array([seconds], pa.timestamp("s"))).to_pylist()
    assert text.startswith(f"{year}-03-01")
