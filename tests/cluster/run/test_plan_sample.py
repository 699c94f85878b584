"""The events at which `auto` looks are like those of the stream, though partitions live shorter than a window."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from elsinore.cluster.run.plan_sample import MIN_EVENTS, MOST_PARTS, sample_of

WINDOW = 1_000
EVENTS = 5 * MIN_EVENTS


def stream(partitions: int, alive: int) -> pa.RecordBatch:
    """Return events of a window, `alive` ticks of each partition, one partition behind another."""
    times = np.sort(np.arange(EVENTS) * WINDOW // EVENTS)
    begun = (times // alive) * partitions
    return pa.record_batch({"type": ["A"] * EVENTS, "time": times, "k": begun + np.arange(EVENTS) % partitions})


def events_of_a_partition(events: pa.RecordBatch) -> float:
    return len(events) / len(set(events.column("k").to_pylist()))


def test_whole_partitions_are_chosen_from_a_whole_window() -> None:
    events = stream(100, WINDOW // 4)
    sample, parts = sample_of(events, ("k",), WINDOW)
    assert parts == 5
    assert abs(len(sample) * parts / EVENTS - 1) < 0.3
    assert events_of_a_partition(sample) == pytest.approx(events_of_a_partition(events), rel=0.01)
    assert sample.column(1).to_pylist() == sorted(sample.column(1).to_pylist())


def test_a_short_window_is_looked_at_as_it_is() -> None:
    events = stream(100, WINDOW)
    for keys, window in ((("k",), 10), ((), WINDOW)):
        sample, parts = sample_of(events, keys, window)
        assert (len(sample), parts) == (MIN_EVENTS, 1)
        assert sample.equals(events.slice(0, MIN_EVENTS))


def test_few_partitions_are_not_divided() -> None:
    sample, parts = sample_of(stream(1, WINDOW), ("k",), WINDOW)
    assert (len(sample), parts) == (MIN_EVENTS, 1)
    assert MOST_PARTS > 5
