"""Windows that move with every event, of many queries in one graph: the rows are those of each query by itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st

import elsinore
from elsinore.actors.engine import Engine
from elsinore.actors.moving.graph import MovingShareGraph
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.kinds import MOVING_WINDOWS
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.sharing import MovingSet
from elsinore.planner.time.clock import Clock
from tests.actors.streams import Row, batch, cut, fed, shown
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.query import Query, text_of
from tests.oracle.sharing import streams, workloads
from tests.oracle.strategies import edged
from tests.test_batches import SCHEMA
from tests.test_batches import cut as cut_anywhere
from tests.test_batches import fed as fed_saved
from tests.test_batches import shown as shown_rows
from tests.test_enumerator import NUMERIC, QUICK

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> Case:
    """Queries that share, with windows that move with every event, and so short that many begin within a burst."""
    lengths = st.sampled_from((2, 3, 3, 4, 5, 7, 12)).map(Fraction)
    queries = [one if edged(one) else replace(one, slide=None, within=draw(lengths)) for one in draw(workloads())]
    return tuple(queries), draw(streams(most, whole))


def planned(queries: tuple[Query, ...]) -> Plan:
    made = plan(check_text(text_of(queries)), "hamlet")
    assume(any(isinstance(one, MovingSet) for one in made.share_sets))
    return made


@settings(QUICK, max_examples=120)
@given(cases(12), NUMERIC)
def test_rows_are_those_of_the_enumeration(case: Case, numeric: Numeric) -> None:
    queries, events = case
    planned(queries)
    note(f"{text_of(queries)}\n" + "\n".join(map(str, events)) + f"\nnumeric={numeric}")
    rows = elsinore.run(text_of(queries), events, engine="local", strategy="hamlet", numeric=numeric).rows()
    event("some rows" if rows else "no rows")
    assert differences(answer(queries, events), rows, numeric) == []


@settings(QUICK, max_examples=60)
@given(cases(12, whole=True), st.randoms(use_true_random=False), st.booleans())
def test_batches_and_snapshots_never_show(case: Case, random: Random, saved: bool) -> None:
    queries, events = case
    made = planned(queries)
    batches = list(cut_anywhere(events, random))
    note(text_of(queries) + "\n" + "\n".join(map(str, batches)))
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed_saved(made, clock, batches, saved) for row in shown_rows(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []


@settings(QUICK, max_examples=30)
@given(cases(10, whole=True), st.integers(0, 8), st.randoms(use_true_random=False))
def test_events_that_are_not_too_late_count(case: Case, late: int, random: Random) -> None:
    queries, events = case
    planned(queries)
    arriving = sorted(events, key=lambda one: one["time"] + random.randint(0, late))
    note(text_of(queries) + f"\nlateness={late}\n" + "\n".join(map(str, arriving)))
    batches = pa.Table.from_pylist(arriving, SCHEMA).to_batches(max_chunksize=2)
    source = pa.RecordBatchReader.from_batches(SCHEMA, batches)
    result = elsinore.run(text_of(queries), source, engine="local", strategy="hamlet", lateness=late)
    assert differences(answer(queries, events), result.rows(), "exact") == []


# Longer streams, against each query by itself

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


def engine(text: str, strategy: str, numeric: str = "exact") -> Engine:
    made = plan(check_text(text), strategy)
    assert strategy != "hamlet" or isinstance(made.share_sets[-1], MovingSet)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric)


def run(
    text: str, strategy: str, events: pa.RecordBatch = EVENTS, numeric: str = "exact", size: int = 117
) -> list[Row]:
    return fed(engine(text, strategy, numeric), cut(events, size))


def test_all_are_in_one_set() -> None:
    (found,) = plan(check_text(workload("")), "hamlet").share_sets
    assert len(found.members) == len(SEQUENCES)


@pytest.mark.parametrize("where", PREDICATES, ids=",".join)
@pytest.mark.parametrize("group", ["k", "g"])
def test_rows_are_those_of_each_query_by_itself(where: tuple[str, ...], group: str) -> None:
    """Also where several partitions are one group: a row is due in all of them."""
    text = workload(*where, group=group)
    expected = run(text, "cogra")
    assert len(expected) > 500
    assert run(text, "hamlet") == expected


@pytest.mark.parametrize("within", [WITHIN, WIDE])
@pytest.mark.parametrize("run_length", [0.0, 0.9, 0.99])
def test_bursts_of_any_length(run_length: float, within: tuple[int, ...]) -> None:
    """Longer than the shortest window, than a window's events, and than what one burst may have."""
    events = stream(900, 5, "PTST" if run_length > 0.95 else "PQSUTTTT", run_length)
    text = workload("", " AND T.w > 3", within=within)
    assert run(text, "hamlet", events, size=400) == run(text, "cogra", events, size=400)


def test_extremes() -> None:
    text = workload("", " AND T.w > 2", items=("COUNT(*), MIN(T.f), MAX(T.f)",))
    assert run(text, "hamlet") == run(text, "cogra")


def test_approximate_numbers() -> None:
    text = workload("", " AND T.w > 2", within=WIDE)
    rows, expected = run(text, "hamlet", numeric="approximate"), run(text, "cogra", numeric="approximate")
    assert len(rows) == len(expected) > 500
    for row, other in zip(rows, expected, strict=True):
        for name, value in row.items():
            assert value == (pytest.approx(other[name]) if isinstance(value, float) else other[name])


def test_counts_beyond_any_word() -> None:
    """Of n events every subset is a trend."""
    patterns = ("T+", "SEQ(P, T+)", "SEQ(P, T+, S)")
    text = "; ".join(f"RETURN COUNT(*), SUM(T.v) PATTERN {pattern} WITHIN 900 seconds" for pattern in patterns)
    rows = run(text, "hamlet", batch(["P", *"T" * 600, "S"], range(602), v=range(602)), size=10_000)
    last = {row["query"]: (row["COUNT(*)"], row["SUM(T.v)"]) for row in sorted(rows, key=lambda row: row["end"])}
    assert last == dict.fromkeys(("q1", "q2", "q3"), (2**600 - 1, 2**599 * sum(range(601))))
    assert len(rows) == 600 + 600 + 1


def test_negative_sums_beyond_any_word() -> None:
    text = workload("", items=("SUM(T.v), SUM(T.w)",), within=WIDE)
    whole = stream(700, types="PSTTTTTT")
    rnd = np.random.default_rng(2)
    for name in "vw":
        values = pa.array(rnd.integers(-(10**9), 10**9, len(whole)))
        whole = whole.set_column(whole.schema.get_field_index(name), name, values)
    assert run(text, "hamlet", whole) == run(text, "cogra", whole)


def test_floats_that_come_late() -> None:
    """What was compared and added up as integers is so as floats from then on, and needs digits of its own."""
    text = workload("", items=("SUM(T.v), MAX(T.v)",))
    whole = stream(300)
    column = pa.array([None if v is None else v + 2.0**-40 for v in whole.column("v").to_pylist()])
    later = whole.set_column(whole.schema.get_field_index("v"), "v", column).slice(150)
    one, other = engine(text, "hamlet"), engine(text, "cogra")
    batches = [whole.slice(0, 150), later]
    assert fed(one, batches) == fed(other, batches)


def test_saved_and_restored_between_batches() -> None:
    text = workload("", " AND T.w > 4", items=("COUNT(*), SUM(T.f)",))
    one, rows = engine(text, "hamlet"), []
    for part in cut(EVENTS, 150):
        rows += one.feed(part)
        one = Engine.restore(one.plan, one.save())
    assert shown(one, [*rows, *one.finish()]) == run(text, "cogra")


def test_partitions_that_are_forgotten() -> None:
    text = workload("", " AND T.w > 2")
    count = 6000
    rnd = np.random.default_rng(3)
    types, times = rnd.choice(list("PQSUTTTT"), count).tolist(), np.arange(count) // 2
    v, w = rnd.integers(0, 9, (2, count))
    events = batch(types, times, v=v, w=w, f=v / 4, k=times // 40, g=times // 80)
    assert run(text, "hamlet", events, size=500) == run(text, "cogra", events, size=500)


def test_more_entries_than_a_stack_has_room_for() -> None:
    """A graph makes room for the maps of long windows as it meets them."""
    text = "; ".join(f"RETURN COUNT(*) PATTERN SEQ({one}, T+, S) WITHIN 4000 seconds" for one in "PQ")
    types = ["P" if n % 9 == 0 else "Q" if n % 4 == 0 else "T" for n in range(6000)]
    types[3000::500] = ["S"] * len(types[3000::500])
    events = batch(types, range(6000))
    one = engine(text, "hamlet", "approximate")
    rows = fed(one, cut(events, 2000))
    expected = run(text, "cogra", events, "approximate", 2000)
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
