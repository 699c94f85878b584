"""Of every kind, the rows of long streams are those of another strategy, which shares nothing with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.errors import WorkloadError
from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.plans.changing import changed
from tests.conformance.kinds import Kind
from tests.conformance.matrix import of_each_strategy
from tests.support.streams import Row, batch, bursts, cut, engine, fed, planned, rows_of, shown, with_column

SUMS = ("COUNT(*), COUNT(b), SUM(b.v)", "COUNT(*), AVG(b.w)", "COUNT(*), SUM(b.f)", "SUM(b.w)")
EVENTS = bursts(900)
SIZE = 117
"""Of batches."""


@cache
def expected(text: str, strategy: str) -> list[Row]:
    """Return the rows over the stream of most tests, which are computed once."""
    found = rows_of(text, strategy, EVENTS, SIZE)
    assert len(found) > 60
    return found


def agree(kind: Kind, strategy: str, text: str) -> None:
    assert rows_of(text, strategy, EVENTS, SIZE) == expected(text, kind.other)


@of_each_strategy("explain names it")
def test_explain_names_it(kind: Kind, strategy: str) -> None:
    """And where it shares, most queries of the long workload do."""
    made = planned(kind.workload(*SUMS), strategy)
    assert kind.shown in explain(made)
    together = {member.query for one in made.share_sets for member in one.members}
    assert len(together) >= len(kind.queries) * 0.7 if kind.shares else not together


@of_each_strategy("rows of queries apart")
def test_rows_are_those_of_each_query_by_itself(kind: Kind, strategy: str) -> None:
    agree(kind, strategy, kind.workload(*SUMS))


@of_each_strategy("groups of several partitions")
def test_groups_of_several_partitions(kind: Kind, strategy: str) -> None:
    """A row is due in all of them."""
    agree(kind, strategy, kind.workload(*SUMS, group="g"))


@of_each_strategy("extremes")
def test_extremes(kind: Kind, strategy: str) -> None:
    agree(kind, strategy, kind.workload("COUNT(*), MIN(b.v), MAX(b.f), SUM(b.v)"))


def near(value: Any, right: Any) -> bool:
    if value is None or isinstance(value, str):
        return bool(value == right)
    return abs(Fraction(value) - Fraction(right)) <= abs(Fraction(right)) / 10**6


@of_each_strategy("approximate numbers")
def test_approximate_numbers(kind: Kind, strategy: str) -> None:
    text = kind.workload(*SUMS, "MIN(b.f), MAX(b.v)" if kind.other == "cogra" and not kind.shares else "AVG(b.f)")
    rows, right = rows_of(text, strategy, EVENTS, SIZE, numeric="approximate"), expected(text, kind.other)
    assert len(rows) == len(right)
    for row, exact in zip(by_place(rows), by_place(right), strict=True):
        assert row.keys() == exact.keys()
        assert all(near(value, exact[item]) for item, value in row.items()), (row, exact)


def by_place(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["query"], row["start"], row["end"], str(row["k"])))


@of_each_strategy("beyond any word")
def test_numbers_beyond_any_word(kind: Kind, strategy: str) -> None:
    """A burst of which every subset is a trend; or, without Kleene, sequences of many types in turns."""
    if kind.longest:
        types = [*"ADCX", *"B" * kind.longest, *"CDX"]
        text = kind.workload("COUNT(*), SUM(b.v)", scale=100)
    else:
        turns = ", ".join("AB"[place % 2] for place in range(30)).replace("B", "B b", 1)
        ends = (f"SEQ({turns})", f"SEQ({turns}, C)", f"SEQ(C, {turns})", f"SEQ(D, C, {turns})")
        text = ";".join(
            f"RETURN k, COUNT(*), SUM(b.v), MIN(b.v) PATTERN {one} GROUP-BY k WITHIN 900 seconds" for one in ends
        )
        types = [*"DDCC", *"AABBA" * 40, *"CC"]
    count = len(types)
    events = batch(types, range(count), v=np.arange(count), w=[7] * count, k=[1] * count, t=["p"] * count)
    rows = rows_of(text, strategy, events, SIZE)
    assert max(row["COUNT(*)"] for row in rows) > 2**64
    assert rows == rows_of(text, kind.other, events, SIZE)


@of_each_strategy("values that fill a word")
def test_values_that_fill_a_word(kind: Kind, strategy: str) -> None:
    """Of both signs; no two can be added up in one."""
    values = np.random.default_rng(2).integers(-(2**63) + 1, 2**63 - 1, len(EVENTS))
    events = with_column(EVENTS, "v", pa.array(values))
    text = kind.workload("COUNT(*), SUM(b.v)")
    assert rows_of(text, strategy, events, SIZE) == rows_of(text, kind.other, events, SIZE)


@of_each_strategy("floats that come late")
def test_floats_that_come_late(kind: Kind, strategy: str) -> None:
    """What was compared and added up as integers is so as floats from then on, and needs digits of its own."""
    text = kind.workload("SUM(b.v), MAX(b.v)")
    later = pa.array([None if v is None else v + 2.0**-40 for v in EVENTS.column("v").to_pylist()])
    batches = [EVENTS.slice(0, 450), with_column(EVENTS, "v", later).slice(450)]
    assert fed(engine(text, strategy), batches) == fed(engine(text, kind.other), batches)


@pytest.mark.one_in(3)
@of_each_strategy("batches of any size")
@pytest.mark.parametrize("size", [1, 900])
def test_batches_of_any_size(kind: Kind, strategy: str, size: int) -> None:
    text = kind.workload(*SUMS)
    events = EVENTS if size > 1 else EVENTS.slice(0, 300)
    assert rows_of(text, strategy, events, size) == rows_of(text, strategy, events, SIZE)


@of_each_strategy("saved and restored")
def test_saved_and_restored_between_batches(kind: Kind, strategy: str) -> None:
    text = kind.workload(*SUMS)
    one, rows = engine(text, strategy), []
    for part in cut(EVENTS, 150):
        rows += one.feed(part)
        one = Engine.restore(one.plan, one.save())
    assert shown(one, [*rows, *one.finish()]) == expected(text, kind.other)


@pytest.mark.one_in(3)
@of_each_strategy("partitions are forgotten")
def test_partitions_are_forgotten(kind: Kind, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has events for a while, and never again; the state does not grow with their number."""
    monkeypatch.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", 8)
    count = 4000
    times = np.arange(count) // 2
    events = bursts(count, seed=3)
    for name, column in (("time", times), ("k", times // 20), ("g", times // 40)):
        events = with_column(events, name, pa.array(column))
    text = kind.workload(*SUMS)
    one, rows, sizes = engine(text, strategy), [], []
    for part in cut(events, 250):
        rows += one.feed(part)
        sizes.append(len(one.save()))
    assert shown(one, [*rows, *one.finish()]) == rows_of(text, kind.other, events, SIZE)
    assert max(sizes[8:]) < 1.5 * max(sizes[:8])


@of_each_strategy("events out of order")
def test_events_out_of_order(kind: Kind, strategy: str) -> None:
    """Five seconds late at most, which is waited for."""
    delays = np.random.default_rng(6).integers(0, 6, len(EVENTS))
    arriving = np.argsort(EVENTS.column("time").to_numpy() + delays, kind="stable")
    text = kind.workload(*SUMS)
    one = engine(text, strategy, lateness=5)
    rows = fed(one, cut(EVENTS.take(pa.array(arriving)), 50))
    assert one.late_events.kept == []
    # Events of one time are in another order than before, which only shows where it counts who is next.
    assert rows == expected(text, kind.other)


@pytest.mark.one_in(3)
@of_each_strategy("late events")
def test_late_events_are_left_out(kind: Kind, strategy: str) -> None:
    order = np.argsort(np.arange(len(EVENTS)) + np.random.default_rng(7).integers(0, 30, len(EVENTS)), kind="stable")
    events, text = EVENTS.take(pa.array(order)), kind.workload(*SUMS)
    one, other = (engine(text, name, lateness=2) for name in (strategy, kind.other))
    assert fed(one, cut(events, 37)) == fed(other, cut(events, 37))
    assert sum(map(len, one.late_events.kept)) == sum(map(len, other.late_events.kept)) > 50


@of_each_strategy("queries come and go")
def test_queries_come_and_go(kind: Kind, strategy: str) -> None:
    """Those that stay have all their rows; one that comes has those of windows that begin later."""
    text = kind.workload(*SUMS)
    fewer = text.rpartition(";\n")[0]
    gone = re.findall(r"QUERY (\w+)", text)[-1]
    one, rows = engine(text, strategy), []
    first, second, third = cut(EVENTS, 300)
    rows += one.feed(first)
    one.change(changed(one.plan, check_text(fewer)))
    rows += one.feed(second)
    since = one.moment
    one.change(changed(one.plan, check_text(text)))
    rows += [*one.feed(third), *one.finish()]
    found, right = shown(one, rows), expected(text, kind.other)
    assert [row for row in found if row["query"] != gone] == [row for row in right if row["query"] != gone]
    again = [row for row in found if row["query"] == gone and row["start"] >= since]
    assert again == [row for row in right if row["query"] == gone and row["start"] >= since] != []


@of_each_strategy("errors name the query")
def test_an_error_names_the_query(kind: Kind, strategy: str) -> None:
    """What cannot be added up shows only in the events."""
    text = kind.workload(*SUMS)
    odd = re.sub(r"QUERY q0 RETURN k, [^P]*PATTERN", "QUERY odd RETURN k, SUM(b.t) PATTERN", text.partition(";\n")[0])
    with pytest.raises(WorkloadError, match="SUM and AVG add up numbers") as caught:
        rows_of(f"{text};\n{odd}", strategy, EVENTS)
    assert "query odd" in str(caught.value)
