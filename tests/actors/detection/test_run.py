"""What is kept between batches, and when matches come out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.run import DetectionRun
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.time.clock import Clock
from tests.actors.detection.support import queries_of


def begun(text: str, partition: tuple[str, ...] = ()) -> DetectionRun:
    queries = queries_of(text)
    spans = [query.within.seconds for query in queries if not query.counts_events]
    return DetectionRun(queries, Clock.of(pa.int64(), "s", spans), Partitions(partition, 0))


def batch(types: str, times: list[int], later: int, slots: list[int] | None = None) -> Batch:
    given = np.array(slots or [0] * len(times), np.int32)
    ids = pa.array([f"{kind}{time}" for kind, time in zip(types, times, strict=True)])
    return Batch(pa.array(list(types)).dictionary_encode(), np.array(times, np.int64), {"id": ids}, given, later)


def ids(found: Any) -> list[tuple[str, ...]]:
    return [row for matches in found for row in rows_of(matches)]


def rows_of(matches: Matches) -> list[tuple[str, ...]]:
    column = matches.events.column("id")
    columns = [column.take(pa.array(one.rows)).to_pylist() for one in matches.bound.values()]
    return list(zip(*columns, strict=True))


def test_events_that_no_window_needs_are_dropped() -> None:
    run = begun("RETURN MATCHES PATTERN SEQ(A, B) WITHIN 5 seconds")
    for start in range(0, 1000, 10):
        times = list(range(start, start + 10))
        assert len(ids(run.process(batch("AXBXAXBXAB", times, start + 10)))) > 0
        assert len(run.window) <= 5


def test_not_at_the_end_waits_for_the_window_of_the_first_event() -> None:
    run = begun("RETURN MATCHES PATTERN SEQ(A, B, NOT N) WITHIN 10 seconds")
    assert ids(run.process(batch("AB", [0, 1], 2))) == []
    assert ids(run.process(batch("AB", [5, 6], 7))) == []
    assert ids(run.settle(9)) == []
    assert ids(run.settle(10)) == [("A0", "B1"), ("A0", "B6")]
    assert ids(run.process(batch("N", [14], 15))) == []
    assert ids(run.finish()) == []


def test_not_at_the_end_of_windows_of_events_waits_for_places() -> None:
    run = begun("RETURN MATCHES PATTERN SEQ(A, NOT N) WITHIN 3 events")
    assert ids(run.process(batch("A", [0], 1), np.array([0]))) == []
    assert ids(run.settle(100, 2)) == []
    assert ids(run.settle(101, 3)) == [("A0",)]


def test_partitions_are_kept_under_new_numbers() -> None:
    run = begun("RETURN MATCHES PATTERN SEQ(A, B) WHERE [id] WITHIN 10 seconds", ("id",))
    list(run.process(batch("AAA", [1, 1, 1], 2, [0, 1, 2])))
    run.keep(np.array([2, 0]))
    assert ids(run.process(batch("BB", [3, 4], 5, [0, 5]))) == [("A1", "B3")]
    assert run.window.slots.tolist() == [1, 0, 0, 5]


def test_output_comes_in_buffers_and_in_order() -> None:
    count = 1200
    run = begun("RETURN MATCHES PATTERN SEQ(A, B) WITHIN 5000 seconds")
    times = list(range(count)) + [count + n // 2 for n in range(count)]
    parts = list(run.process(batch("A" * count + "B" * count, times, 9999)))
    assert len(parts) > 1
    assert sum(map(len, parts)) == count * count
    whole = [np.concatenate([getattr(part, name) for part in parts]) for name in ("end", "start")]
    rows = [np.concatenate([part.bound[name].rows for part in parts]) for name in "AB"]
    order = np.lexsort((*rows[::-1], *whole[::-1]))
    assert np.array_equal(order, np.arange(count * count))
