"""A run in this process has the same rows in any number of threads, whatever its queries split the stream by."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest

import elsinore
from elsinore.cluster.run import engine_threads, local
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.planning import plan

EVENTS = 6_000

FOLLOWED = "PATTERN SEQ(A, B+, C)"
TRENDS = "COUNT(*), SUM(B.v), AVG(B.w), MIN(B.v), MAX(B.w)"

QUERIES = {
    "partitions": f"RETURN {TRENDS} {FOLLOWED} WHERE [p] WITHIN 60 seconds SLIDE 20 seconds",
    "groups": f"RETURN g, {TRENDS} {FOLLOWED} WHERE [p] GROUP-BY g WITHIN 60 seconds SLIDE 60 seconds",
    "texts": f"RETURN {TRENDS} {FOLLOWED} WHERE [t] WITHIN 60 seconds SLIDE 20 seconds",
    "floats": f"RETURN {TRENDS} {FOLLOWED} WHERE [f] WITHIN 60 seconds SLIDE 20 seconds",
    "moving": f"RETURN g, COUNT(*) {FOLLOWED} WHERE [p] GROUP-BY g WITHIN 20 seconds",
    "pairs": "RETURN g, COUNT(*) PATTERN AND(SEQ(A, B+), C) WHERE [p] GROUP-BY g WITHIN 20 seconds SLIDE 20 seconds",
    "contiguous": f"RETURN COUNT(*) {FOLLOWED} SEMANTICS contiguous WHERE [p] WITHIN 20 seconds SLIDE 20 seconds",
    "neighbours": f"RETURN COUNT(*) {FOLLOWED} WHERE [p] AND B.v < NEXT(B).v WITHIN 20 seconds SLIDE 20 seconds",
    "whole stream": "RETURN COUNT(*), SUM(B.w) PATTERN SEQ(A, B+) WITHIN 10 seconds SLIDE 10 seconds",
    "counted events": f"RETURN COUNT(*) {FOLLOWED} WHERE [p] WITHIN 200 EVENTS SLIDE 100 EVENTS",
    "matches": "RETURN MATCHES A.v, C.v PATTERN SEQ(A, C) WHERE [p] AND A.v < 3 WITHIN 3 seconds",
}


def stream(seed: int = 1) -> pa.Table:
    """Return events of 40 partitions in 4 groups, some of them without a partition, some of them out of order."""
    random = np.random.default_rng(seed)
    p = random.integers(0, 40, EVENTS)
    times = np.arange(EVENTS) / 20 + random.choice([0.0, 0.5], EVENTS)
    return pa.table(
        {
            "type": pa.array(random.choice(["A", "B", "C", "D"], EVENTS)),
            "time": times,
            "p": pa.array(p, mask=random.random(EVENTS) < 0.02),
            "g": pa.array([f"g{number % 4}" for number in p]),
            "t": pa.array([f"text {number}" for number in p]),
            "f": p / 2,
            "v": random.integers(0, 9, EVENTS),
            "w": random.random(EVENTS),
        }
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few events be worth several threads, and pieces be cut within events of one time."""
    monkeypatch.setattr(local, "MIN_SHARED_EVENTS", 1)
    monkeypatch.setattr(engine_threads, "PIECE_EVENTS", 700)


def run(text: str, cores: int, chunk: int = EVENTS, numeric: Literal["exact", "approximate"] = "exact") -> Any:
    return elsinore.run(
        text, stream().to_reader(max_chunksize=chunk), engine="local", cores=cores, numeric=numeric, lateness=0.25
    )


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("numeric", ["exact", "approximate"])
def test_rows_are_the_same_in_any_number_of_threads(name: str, numeric: Literal["exact", "approximate"]) -> None:
    alone = run(QUERIES[name], 1, numeric=numeric)
    assert len(alone) > 10
    for cores in (2, 3):
        assert run(QUERIES[name], cores, numeric=numeric).rows() == alone.rows()


def test_queries_that_split_the_stream_differently_run_beside_each_other() -> None:
    text = ";".join(f"QUERY q{number} {query}" for number, query in enumerate(QUERIES.values()))
    alone, spread = run(text, 1, 100), run(text, 4, 100)
    assert alone.rows() == spread.rows()
    assert alone.late.num_rows > 50
    assert spread.late.equals(alone.late)
    # Beside a contiguous query, events of types that no query names are dropped, too.
    assert replace(spread.metrics, dropped=0) == replace(alone.metrics, dropped=0)


def test_dropped_events_count_once_for_each_way_to_split_the_stream() -> None:
    text = ";".join(f"QUERY {name} {QUERIES[name]}" for name in ("partitions", "groups", "moving", "pairs", "matches"))
    alone, spread = (run(text, cores).metrics for cores in (1, 3))
    assert spread == alone
    assert alone.dropped > 100


def test_a_partition_stays_with_its_thread_when_its_values_become_floats() -> None:
    table = stream().sort_by("time")
    whole = table.set_column(2, "p", table["p"].fill_null(0))
    parts = [whole.slice(0, 3_000), whole.slice(3_000)]
    parts[1] = parts[1].set_column(2, "p", parts[1]["p"].cast(pa.float64()))
    batches = [one.combine_chunks().to_batches()[0] for one in parts]
    found = []
    for cores in (1, 3):
        one = local.LocalRun(plan(check_text(QUERIES["partitions"]), "auto"), Batches(batches), cores=cores)
        found.append(sum(map(len, one)))
        assert len(one.engines) == cores
    assert found[0] == found[1] > 10


class Batches:
    """A source whose columns change from batch to batch, as those of text files do."""

    form, time_unit, dead = pa.float64(), "s", 0

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        self._batches = batches

    def batches(self, clock: Any, columns: Any) -> Any:
        for batch in self._batches:
            ticks = pa.array((batch.column("time").to_numpy() * float(clock.ticks_per_second)).astype(np.int64))
            types = batch.column("type").dictionary_encode()
            yield pa.RecordBatch.from_arrays(
                [types, ticks, *(batch.column(name) for name in columns)], ["type", "time", *columns]
            )

    def bury_late(self, events: pa.RecordBatch, clock: Any) -> None:
        """Forget them: events of one time may lie on both sides of a cut."""


def test_which_attributes_deal_events_out() -> None:
    def keys(*names: str, exact: bool = True) -> list[tuple[str, ...]]:
        text = ";".join(f"QUERY q{number} {QUERIES[name]}" for number, name in enumerate(names))
        return [found for found, _ in engine_threads.dealt_plans(plan(check_text(text), "auto"), exact)]

    assert keys("partitions") == [("p",)]
    assert keys("partitions", exact=False) == [()]
    assert keys("groups") == [("g", "p")]
    assert keys("groups", exact=False) == keys("moving") == keys("pairs") == [("g",)]
    assert keys("whole stream") == keys("counted events") == keys("matches") == [()]
    assert keys("partitions", "texts", "matches") == [("p",), ("t",), ()]


def test_an_error_in_a_thread_ends_the_run() -> None:
    events = stream().set_column(6, "v", pa.array(["text"] * EVENTS))
    with pytest.raises(elsinore.WorkloadError, match="v"):
        elsinore.run(QUERIES["partitions"], events, engine="local", cores=2, lateness=Fraction(1))
