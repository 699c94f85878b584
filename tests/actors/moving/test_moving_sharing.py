"""Windows that move with every event, of many queries in one graph: the rows are those of each query by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.moving.graph import MovingShareGraph
from elsinore.planner.plans.kinds import MOVING_WINDOWS
from tests.support.streams import batch, cut, engine, fed, planned, rows_of

ITEMS = ("COUNT(*)", "COUNT(*), SUM(T.v)", "COUNT(T), AVG(T.w)", "SUM(T.f)", "COUNT(*)")
SEQUENCES = (
    *("SEQ(P, T+, S)", "SEQ(Q, T+)", "T+", "SEQ(T+, S)", "(SEQ(T+, S))+", "SEQ(P, NOT Q, T+, U+)", "SEQ(T+, NOT Q, S)"),
    *("SEQ(U+, S, T+)", "SEQ(P?, T+, S?)"),
)
WITHIN = (30, 45, 12, 60, 30, 5)
WIDE = (600, 700)
"""So long that bursts end for other reasons."""


def workload(*where: str, items: tuple[str, ...] = ITEMS, within: tuple[int, ...] = WITHIN, group: str = "k") -> str:
    """Each pattern with the next of the predicates, items and windows."""
    return "; ".join(
        f"RETURN {group}, {items[n % len(items)]} PATTERN {pattern} WHERE [k]{where[n % len(where)]} "
        f"GROUP-BY {group} WITHIN {within[n % len(within)]} seconds"
        for n, pattern in enumerate(SEQUENCES)
    )


def stream(count: int, seed: int = 1, types: str = "PQSUTTTTTT", run: float = 0.7) -> pa.RecordBatch:
    """Types in runs; every third time is that of another event, too."""
    rnd = np.random.default_rng(seed)
    codes = rnd.choice(list(types), count)
    again = rnd.random(count) < run
    names = [codes[0]]
    for code, same in zip(codes[1:], again[1:], strict=True):
        names.append(names[-1] if same else code)
    columns = {name: rnd.integers(0, 9, count).tolist() for name in "vw"}
    missing = rnd.random(count) < 0.1
    columns["v"] = [None if gone else value for value, gone in zip(columns["v"], missing, strict=True)]
    k = [None if gone else int(value) for value, gone in zip(rnd.integers(0, 3, count), missing[::-1], strict=True)]
    g = [None if value is None else value // 2 for value in k]
    times = np.sort(rnd.integers(0, 2 * count // 3, count))
    return batch([str(name) for name in names], times, **columns, f=rnd.integers(0, 30, count) / 4, k=k, g=g)


EVENTS = stream(700)
PREDICATES = (
    ("",),
    (" AND T.w > 2",),
    ("", " AND T.w > 4", " AND T.v < 7"),
    (" AND T.w > 4", " AND T.w > 2 AND T.v != 3", ""),
)


@pytest.mark.parametrize("where", PREDICATES, ids=",".join)
def test_rows_are_those_of_each_query_by_itself(where: tuple[str, ...]) -> None:
    text = workload(*where)
    assert planned(text, "hamlet").share_sets
    expected = rows_of(text, "cogra", EVENTS, 117)
    assert len(expected) > 500
    assert rows_of(text, "hamlet", EVENTS, 117) == expected


@pytest.mark.parametrize("within", [WITHIN, WIDE])
@pytest.mark.parametrize("run_length", [0.0, 0.9, 0.99])
def test_bursts_of_any_length(run_length: float, within: tuple[int, ...]) -> None:
    """Longer than the shortest window, than a window's events, and than what one burst may have."""
    events = stream(900, 5, "PTST" if run_length > 0.95 else "PQSUTTTT", run_length)
    text = workload("", " AND T.w > 3", within=within)
    assert rows_of(text, "hamlet", events, 400) == rows_of(text, "cogra", events, 400)


def test_counts_beyond_any_word() -> None:
    """Of n events every subset is a trend."""
    patterns = ("T+", "SEQ(P, T+)", "SEQ(P, T+, S)")
    text = "; ".join(f"RETURN COUNT(*), SUM(T.v) PATTERN {pattern} WITHIN 900 seconds" for pattern in patterns)
    rows = rows_of(text, "hamlet", batch(["P", *"T" * 600, "S"], range(602), v=range(602)))
    last = {row["query"]: (row["COUNT(*)"], row["SUM(T.v)"]) for row in sorted(rows, key=lambda row: row["end"])}
    assert last == dict.fromkeys(("q1", "q2", "q3"), (2**600 - 1, 2**599 * sum(range(601))))
    assert len(rows) == 600 + 600 + 1


def test_more_entries_than_a_stack_has_room_for() -> None:
    """A graph makes room for the maps of long windows as it meets them."""
    text = "; ".join(f"RETURN COUNT(*) PATTERN SEQ({one}, T+, S) WITHIN 4000 seconds" for one in "PQ")
    types = ["P" if n % 9 == 0 else "Q" if n % 4 == 0 else "T" for n in range(6000)]
    types[3000::500] = ["S"] * len(types[3000::500])
    events = batch(types, range(6000))
    one = engine(text, "hamlet", numeric="approximate")
    rows = fed(one, cut(events, 2000))
    expected = rows_of(text, "cogra", events, 2000, numeric="approximate")
    assert len(rows) == len(expected) == 12
    for row, other in zip(rows, expected, strict=True):
        assert {**row, "COUNT(*)": 0} == {**other, "COUNT(*)": 0}
        assert abs(row["COUNT(*)"] / other["COUNT(*)"] - 1) < 1e-9
    graph = one.runs(MOVING_WINDOWS)[0].graph
    assert isinstance(graph, MovingShareGraph)
    assert graph.stack > 256


def test_events_are_kept_once_for_all() -> None:
    one = engine(workload("", " AND T.w > 2"), "hamlet")
    one.feed(EVENTS.slice(0, 60))
    (sharing,) = one.runs(MOVING_WINDOWS)
    assert len(sharing.graph.buffer) > 10
    assert all(state["graph"] is None for state in map(sharing.save_member, range(len(sharing.members))))
