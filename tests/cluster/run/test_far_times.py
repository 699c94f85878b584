"""Times beyond Python's calendar, and before Spark's, are dead letters or counted as in a local run."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import elsinore
from elsinore.calendar_years import FIRST_SECOND, LAST_SECOND, PER_SECOND

pytestmark = pytest.mark.usefixtures("running")

COUNTED = "RETURN COUNT(*) PATTERN A+ WITHIN 1 hour SLIDE 1 hour"


def events(unit: str, far: list[int]) -> pa.Table:
    """Return nine events, of which five are dead."""
    factor = PER_SECOND[unit]
    early = -5_000_000_000 * factor  # in 1811: Spark asks for the calendar of such Parquet times
    times = [0, LAST_SECOND * factor, FIRST_SECOND * factor, early, (LAST_SECOND + 1) * factor]
    times += [FIRST_SECOND * factor - 1, *far]
    return pa.table({"type": ["A"] * 9, "time": pa.array([*times, None], pa.timestamp(unit, "UTC"))})


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_runs_on_spark_find_the_same_events_dead(unit: str, tmp_path: Path) -> None:
    pq.write_table(events(unit, [2**62, -(2**62)]), tmp_path / "events.parquet")
    here = elsinore.run(COUNTED, tmp_path / "events.parquet", engine="local")
    there = elsinore.run(COUNTED, tmp_path / "events.parquet", engine="ray")
    assert (here.metrics.dead, there.metrics.dead, len(there.rows())) == (5, 5, 4)
    assert there.rows() == here.rows()


def test_a_live_stream_goes_on_with_them(tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    pq.write_table(events("us", [2**62, -(2**62)]), folder / "events.parquet")
    rows: list[pa.Table] = []
    options: dict[str, Any] = {"checkpoint": tmp_path / "checkpoint", "dead_letters": tmp_path / "dead", "trigger": 0}
    with elsinore.stream(COUNTED, folder, lambda table, _: rows.append(table), **options) as live:
        end = monotonic() + 60
        while live.metrics.events < 9:
            assert not live.wait(0.05)
            assert monotonic() < end
    assert (live.metrics.dead, live.metrics.late, live.metrics.set_aside) == (5, 0, 0)
    assert sum(table.num_rows for table in rows) == 3
    letters = "".join(path.read_text() for path in (tmp_path / "dead").glob("*/*.json"))
    assert letters.count("in the years 1 to 9999") == 4
