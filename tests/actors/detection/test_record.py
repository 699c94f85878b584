"""What is stored of each batch is recorded: by node of the plan, its matches and the queries that it is stored for."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa

from elsinore.actors.detection.joins.record import COLUMNS, stored_table
from elsinore.actors.detection.run import DetectionRun, DetectionSetting
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.time.clock import Clock
from tests.actors.detection.support import queries_of

PAIR = "a.v < b.v"
WORKLOAD = f"""
QUERY one RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE {PAIR} AND b.v < c.v WITHIN 40 seconds;
QUERY two RETURN MATCHES PATTERN SEQ(A a, B b, D d) WHERE {PAIR} AND b.v > d.v WITHIN 40 seconds
"""
CLOCK = Clock.of(pa.int64(), "s", [Fraction(1)])
EVENTS, BATCHES = 600, 3
SPAN = 40


def recorded(setting: DetectionSetting) -> tuple[DetectionRun, Counter[int]]:
    """Run the workload; return also the number of pairs of A and B by the batch in which they end."""
    rng = np.random.default_rng(5)
    run = DetectionRun(queries_of(WORKLOAD), CLOCK, Partitions((), 0), "mpm", setting)
    types = rng.choice(list("ABCD"), EVENTS * BATCHES, p=[0.3, 0.3, 0.2, 0.2])
    values = rng.integers(0, 1000, EVENTS * BATCHES)
    pairs: Counter[int] = Counter()
    for end in np.flatnonzero(types == "B").tolist():
        begin = np.arange(max(0, end - SPAN + 1), end)
        pairs[end // EVENTS] += int(np.sum((types[begin] == "A") & (values[begin] < values[end])))
    for lo in range(0, EVENTS * BATCHES, EVENTS):
        times = np.arange(lo, lo + EVENTS)
        columns = {"v": pa.array(values[times])}
        batch = Batch(
            pa.array(types[times]).dictionary_encode(), times, columns, np.zeros(EVENTS, np.int32), lo + EVENTS
        )
        assert list(run.process(batch))
    return run, pairs


def test_each_batch_is_recorded_by_node() -> None:
    run, pairs = recorded(DetectionSetting(recorded=True))
    assert run.record is not None
    table = stored_table([run.record], CLOCK)
    assert table.column_names == list(COLUMNS)
    shared = [row for row in table.to_pylist() if row["queries"] == ["one", "two"]]
    assert [(row["time"], row["events"]) for row in shared] == [(n * EVENTS, EVENTS) for n in range(BATCHES)]
    assert [row["matches"] for row in shared] == [pairs[n] for n in range(BATCHES)]
    assert len({row["node"] for row in shared}) == 1
    assert all(row["expected"] > 0 for row in shared)


def test_old_batches_are_forgotten() -> None:
    run, _ = recorded(DetectionSetting(recorded=True))
    assert run.record is not None
    before = stored_table([run.record], CLOCK)
    run.record.forget(1)
    assert stored_table([run.record], CLOCK).equals(before.slice(before.num_rows - 1))
    run.record.forget(0)
    assert stored_table([run.record], CLOCK).num_rows == 0


def test_nothing_is_recorded_by_default() -> None:
    run, _ = recorded(DetectionSetting())
    assert run.record is None
