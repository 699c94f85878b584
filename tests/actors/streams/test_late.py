"""Events that come too late are counted and handed back; all others count, in whatever order they came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import elsinore
from elsinore.actors.streams.late import LATE_KEPT
from tests.support.streams import Row, batch, cut, engine, fed, run

WINDOWS = ["10 seconds SLIDE 10 seconds", "10 seconds SLIDE 5 seconds", "10 seconds SLIDE 2 seconds", "10 seconds"]
WHERE = ["", "WHERE A.v != NEXT(A).v"]


def query(window: str, where: str = "") -> str:
    return f"RETURN COUNT(*), SUM(A.v) PATTERN A+ {where} WITHIN {window}"


def late_times(one: Any) -> list[int]:
    return [time for part in one.late_events.kept for time in part.column(1).to_pylist()]


@pytest.mark.one_in(7)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("where", WHERE, ids=["by type", "by event"])
@pytest.mark.parametrize("lateness", [0, 1, 3, 7, 1000])
def test_late_events_are_handed_back_and_change_nothing(lateness: int, where: str, window: str) -> None:
    rnd = np.random.default_rng(lateness)
    times = np.arange(300) // 2 + rnd.integers(-6, 6, 300)
    events = batch("A", times, v=np.arange(300))
    for size in (1, 7, 50, 300):
        seen, kept, late = None, [], []
        for start in range(0, 300, size):
            part = range(start, min(start + size, 300))
            late += [n for n in part if seen is not None and times[n] < seen - lateness]
            kept += [n for n in part if seen is None or times[n] >= seen - lateness]
            seen = max([*(int(times[n]) for n in part), *([] if seen is None else [seen])])
        one = engine(query(window, where), lateness=lateness)
        rows = fed(one, cut(events, size))
        assert sorted(late_times(one)) == sorted(times[late].tolist())
        assert sorted(v for part in one.late_events.kept for v in part.column("v").to_pylist()) == sorted(late)
        in_order = sorted(kept, key=lambda n: (times[n], n))
        assert rows == run(query(window, where), events.take(pa.array(in_order)))
        assert bool(late) == (lateness < 5 and size < 300) or lateness == 7


@pytest.mark.parametrize("window", WINDOWS)
def test_equal_times_split_over_batches(window: str) -> None:
    """Events of one time never follow one another, though they come in different batches."""
    events = batch("A", np.arange(60) // 6, v=np.arange(60))
    expected = run(query(window), events)
    assert expected[0]["COUNT(*)"] < 2**59
    for size in (1, 2, 5, 7):
        one = engine(query(window))
        assert fed(one, cut(events, size)) == expected
        assert one.late_events.kept == []


def test_an_event_at_the_watermark_is_not_late() -> None:
    one = engine(query(WINDOWS[0]), lateness=3)
    rows = fed(one, [batch("A", [10], v=[1]), batch("A", [7, 6], v=[2, 3]), batch("A", [11], v=[4])])
    assert late_times(one) == [6]
    assert [(row["start"], row["SUM(A.v)"]) for row in rows] == [(0, 2), (10, 10)]


def test_events_in_are_events_that_count_late_ones_dropped_ones_and_dead_ones() -> None:
    schema = pa.schema({"type": pa.string(), "time": pa.int64(), "k": pa.int64()})
    batches = [
        pa.RecordBatch.from_pydict({"type": ["A", "A"], "time": [5, 20], "k": [1, 1]}, schema),
        pa.RecordBatch.from_pydict(
            {"type": ["A", "A", None, "A"], "time": [3, 21, 22, None], "k": [1, 1, 1, 1]}, schema
        ),
        pa.RecordBatch.from_pydict({"type": ["A", "B"], "time": [23, 24], "k": [None, 1]}, schema),
    ]
    text = "RETURN k, COUNT(*) PATTERN A+ GROUP-BY k WITHIN 10 seconds SLIDE 10 seconds"
    result = elsinore.run(text, pa.RecordBatchReader.from_batches(schema, batches))
    metrics = result.metrics
    assert (metrics.events, metrics.late, metrics.dead, metrics.dropped) == (6, 1, 2, 1)
    assert result.late.num_rows == 1
    assert [(row["window_start"], row["COUNT(*)"]) for row in result.rows()] == [(0, 1), (20, 3)]


def test_a_batch_of_late_events_alone_gives_no_rows() -> None:
    one = engine(query(WINDOWS[0]))
    rows: list[Row] = fed(
        one, [batch("A", [100], v=[1]), batch("A", [1, 2, 3], v=[1, 2, 3]), batch("A", [], v=pa.array([], pa.int64()))]
    )
    assert late_times(one) == [1, 2, 3]
    assert [row["COUNT(*)"] for row in rows] == [1]


def late_stream(batches: int, size: int) -> pa.RecordBatchReader:
    schema = pa.schema({"type": pa.string(), "time": pa.int64(), "v": pa.int64()})

    def found() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"type": ["A"], "time": [10**9], "v": [1]}, schema)
        for _ in range(batches):
            yield pa.record_batch({"type": ["A"] * size, "time": np.arange(size), "v": np.ones(size, np.int64)}, schema)

    return pa.RecordBatchReader.from_batches(schema, found())


def test_of_late_events_the_first_are_kept_and_all_are_counted() -> None:
    text = "RETURN COUNT(*) PATTERN A WITHIN 10 seconds SLIDE 10 seconds"
    result = elsinore.run(text, late_stream(9, 3_000))
    assert (result.metrics.late, result.late.num_rows) == (27_000, LATE_KEPT)
    one = engine(text)
    fed(one, [batch("A", [100], v=[1]), *(batch("A", np.arange(50) % 90, v=np.arange(50)) for _ in range(1_000))])
    assert one.late_events.count == 50_000
    assert sum(map(len, one.late_events.kept)) == LATE_KEPT
    assert len(one.late_events.kept) <= LATE_KEPT // 50


def test_late_events_are_written_to_the_dead_letters_as_they_come(tmp_path: Path) -> None:
    text = "RETURN SUM(A.v) PATTERN A WITHIN 10 seconds SLIDE 10 seconds"
    result = elsinore.run(text, late_stream(3, 5_000), dead_letters=tmp_path / "dead.jsonl")
    assert (result.metrics.late, result.metrics.dead) == (15_000, 0)
    letters = [json.loads(line) for line in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert len(letters) == 15_000
    assert letters[7]["event"] == {"type": "A", "time": 7, "v": 1}
    assert letters[7]["reason"].startswith("it is late")
