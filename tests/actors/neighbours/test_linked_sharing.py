"""Queries with predicates on neighbours in one graph: the rows are those of each query by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from elsinore.errors import WorkloadError
from elsinore.planner.plans.kinds import LINKED
from tests.oracle.strategies import COMPARISONS
from tests.support.streams import batch, engine, planned, rows_of

ITEMS = ("COUNT(*)", "COUNT(*), SUM(T.v)", "COUNT(T), AVG(T.w)", "COUNT(*)")
SEQUENCES = ("SEQ(P, T+, S)", "SEQ(Q, T+)", "(SEQ(T+, S))+", "SEQ(P, NOT Q, T+, U+)", "SEQ(U+, S, T+)")
WINDOWS = ("WITHIN 60 seconds SLIDE 60 seconds", "WITHIN 60 seconds SLIDE 25 seconds")


def workload(*links: str, window: str = WINDOWS[1], items: tuple[str, ...] = ITEMS) -> str:
    """Each pattern with the next of the links and items."""
    return "; ".join(
        f"RETURN k, {items[n % len(items)]} PATTERN {pattern} WHERE [k] AND {links[n % len(links)]} GROUP-BY k {window}"
        for n, pattern in enumerate(SEQUENCES)
    )


def stream(count: int, seed: int = 1) -> pa.RecordBatch:
    rnd = np.random.default_rng(seed)
    types = rnd.choice(list("PQSUTTTTTT"), count).tolist()
    columns = {name: rnd.integers(0, 9, count).tolist() for name in "vw"}
    missing = rnd.random(count) < 0.1
    columns["v"] = [None if gone else value for value, gone in zip(columns["v"], missing, strict=True)]
    texts = [None if gone else "pqrst"[value % 5] for value, gone in zip(columns["w"], missing[::-1], strict=True)]
    times = np.sort(rnd.integers(0, count // 3, count))
    return batch(types, times, **columns, f=rnd.integers(0, 30, count) / 4, t=texts, k=rnd.integers(0, 4, count))


EVENTS = stream(900)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(
    "links",
    [
        *[(f"T.v {operator} NEXT(T).v",) for operator in COMPARISONS],
        ("T.v < NEXT(T).v", "T.v != NEXT(T).v", "T.f <= NEXT(T).f AND T.w > 2"),
        ("T.v < NEXT(T).v AND T.w != NEXT(T).w", "T.v + 1 >= NEXT(T).v"),
        ("T.t < NEXT(T).t", "T.t != NEXT(T).t", "T.t = NEXT(T).t"),
    ],
    ids=" and ".join,
)
def test_rows_are_those_of_each_query_by_itself(links: tuple[str, ...], window: str) -> None:
    text = workload(*links, window=window)
    assert planned(text, "hamlet").share_sets
    expected = rows_of(text, "cogra", EVENTS, 117)
    assert len(expected) > 60
    assert rows_of(text, "hamlet", EVENTS, 117) == expected


def test_counts_beyond_any_word() -> None:
    """Of n rising events every subset is a trend, and none of two or more is where they have to fall."""
    text = "; ".join(
        f"RETURN COUNT(*), SUM(T.v) PATTERN {pattern} WHERE T.v {operator} NEXT(T).v "
        "WITHIN 900 seconds SLIDE 900 seconds"
        for pattern, operator in (("T+", "<"), ("SEQ(P, T+)", "<"), ("T+", ">"), ("T+", "!="))
    )
    rows = rows_of(text, "hamlet", batch(["P", *"T" * 800], range(801), v=range(801)), 117)
    rising, falling = (2**800 - 1, 2**799 * sum(range(801))), (800, sum(range(801)))
    found = {row["query"]: (row["COUNT(*)"], row["SUM(T.v)"]) for row in rows}
    assert found == {"q1": rising, "q2": rising, "q3": falling, "q4": rising}


def test_an_error_names_the_query_that_compares() -> None:
    text = (
        f"QUERY fine RETURN COUNT(*) PATTERN T+ WHERE T.v < NEXT(T).v {WINDOWS[0]}; "
        f"QUERY odd RETURN COUNT(*) PATTERN T+ WHERE T.v < NEXT(T).t {WINDOWS[0]}"
    )
    with pytest.raises(WorkloadError, match=r"query odd.*\n?.*T.v < NEXT\(T\).t compares int with text values"):
        rows_of(text, "hamlet", EVENTS)


def test_events_and_what_is_compared_are_kept_once_for_all() -> None:
    one = engine(workload("T.v < NEXT(T).v", "T.w >= NEXT(T).w"), "hamlet")
    one.feed(EVENTS.slice(0, 30))
    (sharing,) = one.runs(LINKED)
    assert len(sharing.graph.buffer) > 20
    assert len(sharing.graph.buffer.links.left) == 2
    assert all(state["graph"] is None for state in map(sharing.save_member, range(len(sharing.members))))
