"""Queries whose sequences begin alike in one tree: the rows are those of each query by itself, and the limits too."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.kinds import PREFIX
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.actors.streams import Row, batch, cut, fed, shown
from tests.actors.test_strategies import stream

EVENTS = stream(2000)
WINDOW = "WHERE [k]{} GROUP-BY g WITHIN 60 seconds SLIDE 25 seconds"
QUERIES = (
    ("COUNT(*), COUNT(B), SUM(B.v), MIN(B.v)", "SEQ(A, B+, C)", ""),
    ("AVG(b.v), MAX(C.f), SUM(C.f)", "SEQ(A, B b+, C)", ""),
    ("COUNT(*), SUM(A.f)", "SEQ(A, B+, X)", ""),
    ("SUM(B.v), MAX(B.v)", "SEQ(A, B+, X)", " AND B.v > 100"),
    ("COUNT(*), SUM(X.v)", "SEQ(A, (X | SEQ(B, C)))", ""),
    ("SUM(b.v)", "SEQ(A, (SEQ(B b, C) | SEQ(B x, X)))", ""),
    ("COUNT(B)", "B+", ""),
    ("COUNT(*)", "SEQ(B+, X, A)", ""),
)


def workload(queries: Iterable[tuple[str, str, str]] = QUERIES) -> str:
    return "; ".join(f"RETURN g, {items} PATTERN {pattern} {WINDOW.format(more)}" for items, pattern, more in queries)


def engine(text: str, strategy: str = "sharon") -> Engine:
    made = plan(check_text(text), strategy)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans))


def run(text: str, strategy: str = "sharon", events: pa.RecordBatch = EVENTS, size: int = 300) -> list[Row]:
    return fed(engine(text, strategy), cut(events, size))


def test_rows_are_those_of_auto() -> None:
    """Of two sets: longer sequences, digits of floats, extremes, nulls, and several partitions in a group."""
    text = workload()
    expected = run(text, "auto")
    assert [[member.query for member in one.members] for one in engine(text).plan.share_sets] == [
        [0, 1, 2, 3, 4, 5],
        [6, 7],
    ]
    assert len(expected) > 500
    assert run(text) == expected


def test_rows_of_one_window_do_not_depend_on_who_else_is_there() -> None:
    text = workload()
    rows = run(text)
    for number, query in enumerate(QUERIES):
        alone = run(workload([query]))
        assert [row | {"query": "q1"} for row in rows if row["query"] == f"q{number + 1}"] == alone


def test_saved_and_restored_between_batches() -> None:
    text = workload()
    one, rows = engine(text), []
    for part in cut(EVENTS, 250):
        rows += one.feed(part)
        one = Engine.restore(one.plan, one.save())
    assert shown(one, [*rows, *one.finish()]) == run(text, "auto")


@pytest.mark.parametrize("size", [1, 40])
def test_partitions_that_are_forgotten(size: int) -> None:
    """Each has events for a while, and then never again."""
    times = np.arange(900)
    events = batch(["A", "B", "B", "C", "X"] * 180, times, v=times % 7, f=times / 4, k=times // 90, g=times // 180)
    assert run(workload(), events=events, size=size) == run(workload(), "auto", events)


@pytest.mark.parametrize("count", [8, 9, 128])
def test_sequences_are_as_long_as_the_stream_asks(count: int) -> None:
    """Of each query for itself: the second takes half of the events."""
    text = "; ".join(
        f"RETURN COUNT(*), SUM(B.v) PATTERN SEQ(A, {pattern} WITHIN 200 seconds SLIDE 200 seconds"
        for pattern in ("B+)", "B+) WHERE B.v >= 64", "B+, C)")
    )
    events = batch(["A", *["B"] * count, "C"], range(count + 2), v=range(count + 2))
    one = engine(text)
    rows = fed(one, [events])
    assert rows == run(text, "auto", events)
    assert rows[0]["COUNT(*)"] == 2**count - 1
    (sharing,) = one.runs(PREFIX)
    longest = {8: 8, 9: 16, 128: 128}[count]
    assert [sequences.length for sequences in sharing.graph.sequences] == [longest, 128 if count == 128 else 8, longest]


def test_counters_are_there_once_however_many_queries_have_them() -> None:
    """A tree for twenty queries has as many counters as one for a query, and one more for each other query's end."""
    events = batch(["A", *["B"] * 20, *[f"X{number}" for number in range(20)]], range(41))

    def states(queries: int) -> int:
        one = engine(
            "; ".join(
                f"RETURN COUNT(*) PATTERN SEQ(A, B+, {end}) WITHIN 100 seconds SLIDE 100 seconds"
                for end in [*(f"X{number}" for number in range(queries)), "NONE"]
            )
        )
        assert len(fed(one, [events])) == queries
        (sharing,) = one.runs(PREFIX)
        graph = sharing.graph
        kind = graph.kinds.types.index("B")
        appends = graph.layout.counter.machine.appends[graph.kinds.type_of.index(kind)]
        assert len(appends) == 32
        return len(graph.layout.counter.machine.states)

    assert states(20) == states(1) + 19


def test_what_is_longer_than_any_sequence() -> None:
    """The query that has it is named, and not the one that it shares with."""
    text = (
        "QUERY short RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.v < 100 WITHIN 500 seconds SLIDE 250 seconds;"
        "QUERY long RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 500 seconds SLIDE 250 seconds"
    )
    events = batch(["A", *["B"] * 129], range(130), v=range(130))
    with pytest.raises(WorkloadError) as caught:
        run(text, events=events)
    assert "query long, " in str(caught.value)
    assert "in the window from -250 to 250 Kleene can match 129 events of one partition" in str(caught.value)
    assert 'use strategy="auto"' in str(caught.value)


@pytest.mark.parametrize("strategy", ["sharon", "hamlet"])
def test_what_cannot_be_added_up(strategy: str) -> None:
    """The query that asks for it is named."""
    text = workload([("COUNT(*), SUM(B.v)", "SEQ(A, B+)", ""), ("SUM(B.g)", "SEQ(A, B+)", "")])
    with pytest.raises(WorkloadError, match="SUM and AVG add up numbers") as caught:
        run(text, strategy)
    assert "query q2" in str(caught.value)
