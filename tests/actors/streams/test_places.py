"""Windows that count events: the rows are those of windows of time over a stream whose times are the places."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.shells.collector import Collector
from elsinore.actors.streams.key_groups import key_groups
from elsinore.actors.streams.places import Beginning, Places
from elsinore.planner.time.clock import Clock
from tests.support.streams import batch, fed, planned, shown

QUERIES = """
QUERY trends RETURN g, COUNT(*), SUM(B.v) PATTERN SEQ(A, B+) GROUP-BY g WITHIN {n} {unit} SLIDE {m} {unit};
QUERY bursts RETURN g, COUNT(*) PATTERN SEQ(B+, C) GROUP-BY g WITHIN {n} {unit} SLIDE {m} {unit};
QUERY compared RETURN g, COUNT(*) PATTERN B b+ WHERE b.v < NEXT(b).v GROUP-BY g WITHIN {n} {unit} SLIDE {n} {unit};
QUERY following RETURN g, COUNT(*) PATTERN SEQ(A, C) SEMANTICS next GROUP-BY g WITHIN {n} {unit} SLIDE {m} {unit};
QUERY moving RETURN g, COUNT(*) PATTERN SEQ(A, B+, C) GROUP-BY g WITHIN {n} {unit}
"""
CLOCK = Clock(1, Clock.of_events().unit, pa.int64())


def text(unit: str, seed: int) -> str:
    slide = Random(seed).choice([1, 2, 3, 4])
    return QUERIES.format(n=slide * Random(-seed).choice([1, 2, 3]), m=slide, unit=unit)


def events(seed: int, count: int = 120) -> pa.RecordBatch:
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(0, count, count))
    return batch(
        random.choice(["A", "B", "C", "X"], count).tolist(),
        times,
        g=random.choice(["p", "q", "r"], count),
        v=random.integers(0, 5, count),
    )


def on_places(stream: pa.RecordBatch) -> pa.RecordBatch:
    """Return a stream whose times are the places of its events, counted plainly."""
    times = sorted(stream.column(1).to_pylist())
    places = [bisect_left(times, time) for time in stream.column(1).to_pylist()]
    return stream.set_column(1, "time", pa.array(places))


def counting(seed: int, lateness: int = 0) -> Engine:
    return Engine(planned(text("events", seed)), CLOCK, lateness=lateness, places=True)


def expected(stream: pa.RecordBatch, seed: int) -> list[dict[str, Any]]:
    return fed(Engine(planned(text("seconds", seed)), CLOCK), [on_places(stream)])


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_those_of_windows_of_time_over_places(seed: int) -> None:
    stream = events(seed)
    found = fed(counting(seed), [stream])
    assert found == expected(stream, seed)
    assert found


@pytest.mark.parametrize("seed", range(6))
def test_cuts_and_saved_states_do_not_show(seed: int) -> None:
    stream, random = events(seed), Random(seed)
    one, found, at = counting(seed), [], 0
    while at < len(stream):
        size = random.randint(1, 30)
        found += one.feed(stream.slice(at, size))
        one = Engine.restore(one.plan, one.save())
        at += size
    assert shown(one, [*found, *one.finish()]) == expected(stream, seed)


@pytest.mark.parametrize("seed", range(6))
def test_events_out_of_order_have_the_same_places(seed: int) -> None:
    stream, random = events(seed), Random(seed)
    lateness = 10
    arrival = sorted(range(len(stream)), key=lambda n: stream.column(1)[n].as_py() + random.randint(0, lateness))
    mixed = stream.take(pa.array(arrival))
    found = fed(counting(seed, lateness), [mixed.slice(at, 7) for at in range(0, len(mixed), 7)])
    assert found == expected(stream, seed)


def test_late_events_have_no_place() -> None:
    stream = events(1)
    late = stream.slice(0, 5)
    one = counting(1)
    found = one.feed(stream.slice(0, 100)) + one.feed(late) + one.feed(stream.slice(100))
    assert one.late_events.count == 5
    assert shown(one, [*found, *one.finish()]) == expected(stream, 1)


@pytest.mark.parametrize("seed", range(6))
def test_any_partitioning_has_the_same_places(seed: int) -> None:
    """Each engine has the events of its key groups, and is told the times of all others."""
    stream = events(seed)
    groups = key_groups([stream.column("g")], len(stream), 8)
    shards = [counting(seed) for _ in range(4)]
    found: list[PartialRows] = []
    for at in range(0, len(stream), 25):
        part, group = stream.slice(at, 25), groups[at : at + 25]
        times = part.column(1).to_numpy()
        for number, shard in enumerate(shards):
            found += shard.feed_partial(part.filter(pa.array(group % 4 == number)), int(times.max()), times)
    found += [rows for shard in shards for rows in shard.finish_partial()]
    assert shown(shards[0], Collector().collect(found)) == expected(stream, seed)


def test_places_are_counted_once_the_watermark_has_passed() -> None:
    places = Places()
    places.note(np.array([3, 1, 1]), 0)
    assert places.of(np.array([1, 1, 3])).tolist() == [0, 0, 2]
    places.advance(3)
    places.note(np.array([2, 3, 7]), 3)
    assert (places.passed, places.noted) == (2, 5)
    assert places.of(np.array([3, 7])).tolist() == [2, 4]


@pytest.mark.parametrize("seed", range(6))
def test_a_count_that_begins_in_the_middle_goes_on(seed: int) -> None:
    """Events that are older than the beginning may still come, and are counted."""
    stream, lateness, cut = events(seed), 10, 60
    arrival = sorted(range(len(stream)), key=lambda n: stream.column(1)[n].as_py() + Random(n).randint(0, lateness))
    mixed = stream.take(pa.array(arrival))
    latest = max(mixed.column(1).to_pylist()[:cut])
    made = planned(text("events", seed))
    nothing = replace(made, queries=(), share_sets=())
    one = Engine(nothing, CLOCK, lateness=lateness, places=True, beginning=Beginning(cut, latest + 1))
    one.change(made)
    found, at = [], cut
    while at < len(mixed):
        found += one.feed(mixed.slice(at, 7))
        one = Engine.restore(one.plan, one.save())
        at += 7
    places = sorted(stream.column(1).to_pylist())
    first = bisect_left(places, latest + 1)
    after = [row for row in expected(stream, seed) if row["start"] >= first]
    assert shown(one, [*found, *one.finish()]) == after
    assert after
