"""Queries whose sequences begin alike in one tree: the rows are those of each query by itself, and the limits too."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.kinds import PREFIX
from tests.support.long_streams import stream
from tests.support.streams import batch, engine, fed, rows_of

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


def test_rows_of_one_window_do_not_depend_on_who_else_is_there() -> None:
    text = workload()
    rows = rows_of(text, "sharon", EVENTS, 300)
    for number, query in enumerate(QUERIES):
        alone = rows_of(workload([query]), "sharon", EVENTS, 300)
        assert [row | {"query": "q1"} for row in rows if row["query"] == f"q{number + 1}"] == alone


@pytest.mark.parametrize("count", [8, 9, 128])
def test_sequences_are_as_long_as_the_stream_asks(count: int) -> None:
    """Of each query for itself: the second takes half of the events."""
    text = "; ".join(
        f"RETURN COUNT(*), SUM(B.v) PATTERN SEQ(A, {pattern} WITHIN 200 seconds SLIDE 200 seconds"
        for pattern in ("B+)", "B+) WHERE B.v >= 64", "B+, C)")
    )
    events = batch(["A", *["B"] * count, "C"], range(count + 2), v=range(count + 2))
    one = engine(text, "sharon")
    rows = fed(one, [events])
    assert rows == rows_of(text, "auto", events)
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
            ),
            "sharon",
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
        rows_of(text, "sharon", events)
    assert "query long, " in str(caught.value)
    assert "in the window from -250 to 250 Kleene can match 129 events of one partition" in str(caught.value)
    assert 'use strategy="auto"' in str(caught.value)
