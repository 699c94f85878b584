"""What an engine does when its plan changes between two batches: from which window on, who goes on, what is refused."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from elsinore.actors.streams.reorder import START
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.changing import changed
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.streams import Row, batch, cut, fed, shown

TUMBLING, SLIDING, MOVING = (f"WITHIN 10 seconds{slide}" for slide in (" SLIDE 10 seconds", " SLIDE 5 seconds", ""))


def query(name: str, pattern: str = "A+", window: str = SLIDING, items: str = "COUNT(*)", where: str = "") -> str:
    return f"QUERY {name} RETURN {items} PATTERN {pattern} {where} {window}"


def planned(*queries: str, strategy: str = "auto") -> Plan:
    return plan(check_text("; ".join(queries)), strategy)


def begun(made: Plan, lateness: int = 0, ticks: int = 1) -> Engine:
    return Engine(made, Clock(ticks, Clock.of(pa.int64(), "s", ()).unit, pa.int64()), lateness=lateness)


def windows(one: Engine, rows: Iterable[Rows], name: str) -> list[tuple[int, int, int]]:
    """Of a query: start, end and count."""
    return sorted((row["start"], row["end"], row["COUNT(*)"]) for row in shown(one, rows) if row["query"] == name)


def test_a_new_query_answers_windows_that_begin_behind_all_that_was_seen() -> None:
    """The last event seen is of time 10; so the window that begins then is not answered, the one of 15 is."""
    one = begun(planned(query("old")))
    rows = one.feed(batch("A", [1, 10]))
    assert one.moment == 11
    one.change(planned(query("old"), query("new")))
    rows += [*one.feed(batch("A", [11, 15, 16, 22])), *one.finish()]
    assert windows(one, rows, "new") == [(15, 25, 7), (20, 30, 1)]
    assert windows(one, rows, "old") == [(-5, 5, 1), (0, 10, 1), (5, 15, 3), (10, 20, 15), (15, 25, 7), (20, 30, 1)]


def test_a_window_that_moves_begins_with_its_first_moment() -> None:
    """Of times from 11 + 10 on."""
    one = begun(planned(query("old", window=MOVING)))
    rows = one.feed(batch("A", [1, 10]))
    one.change(planned(query("old", window=MOVING), query("new", window=MOVING)))
    rows += [*one.feed(batch("A", [11, 20, 21, 22])), *one.finish()]
    assert windows(one, rows, "new") == [(11, 21, 3), (12, 22, 7)]
    assert [start for start, *_ in windows(one, rows, "old")] == [-9, 0, 1, 10, 11, 12]


def test_events_that_wait_were_seen() -> None:
    """5 seconds of lateness: the event of 10 waits, and has no column that only the new query reads."""
    one = begun(planned(query("old", window=TUMBLING)), lateness=5)
    rows = one.feed(batch("A", [10]))
    one.change(planned(query("old", window=TUMBLING), query("new", window=TUMBLING, where="WHERE [k] AND A.v > 0")))
    assert one.moment == 11
    assert one.columns == ("k", "v")
    rows += one.feed(batch("A", [9, 20, 21], k=[1, 1, 1], v=[1, 1, 1]))
    rows += one.finish()
    assert windows(one, rows, "new") == [(20, 30, 3)]
    assert windows(one, rows, "old") == [(0, 10, 1), (10, 20, 1), (20, 30, 3)]
    assert one.dropped == 0


def test_nothing_was_fed_in_between() -> None:
    one = begun(planned(query("old")))
    one.feed(batch("A", [10]))
    one.change(planned(query("old"), query("new", where="WHERE [k]")))
    assert windows(one, one.finish(), "old") == [(5, 15, 1), (10, 20, 1)]


def test_before_the_first_event_all_windows_are_answered() -> None:
    one = begun(planned(query("old")))
    one.change(planned(query("new"), strategy="cogra"))
    assert one.moment == START
    assert not one.changing
    assert windows(one, [*one.feed(batch("A", [1])), *one.finish()], "new") == [(-5, 5, 1), (0, 10, 1)]


def test_open_windows_of_a_query_that_is_gone_give_no_rows() -> None:
    one = begun(planned(query("here"), query("gone")))
    first = one.feed(batch("A", [1, 4, 6]))
    one.change(planned(query("here")))
    rest = [*one.feed(batch("A", [7, 21])), *one.finish()]
    assert windows(one, first, "gone") == windows(one, first, "here") == [(-5, 5, 3)]
    assert windows(one, rest, "gone") == []
    assert windows(one, rest, "here") == [(0, 10, 15), (5, 15, 3), (15, 25, 1), (20, 30, 1)]


def test_from_a_moment_that_is_told() -> None:
    """So that all engines of a stream change at once."""
    one = begun(planned(query("old")))
    rows = one.feed(batch("A", [1]))
    one.change(planned(query("old"), query("new")), since=20)
    with pytest.raises(ValueError, match="from 19 on: 20 is the earliest moment"):
        one.change(planned(query("new")), since=19)
    rows += [*one.feed(batch("A", [12, 19, 20, 31])), *one.finish()]
    assert [start for start, *_ in windows(one, rows, "new")] == [20, 25, 30]
    with pytest.raises(ValueError, match="from 31 on: 32 is the earliest moment"):
        one.change(planned(query("new")), since=31)


@pytest.mark.parametrize(("window", "over"), [(TUMBLING, 20), (SLIDING, 20), (MOVING, 25)])
def test_side_by_side_until_the_windows_before_are_over(window: str, over: int) -> None:
    """Changed at 15: the last window before it begins at 10, and the last one that moves at 14, with 24 in it."""
    one = begun(planned(query("q", window=window), query("r", window=window), strategy="cogra"))
    one.feed(batch("A", [14]))
    one.change(planned(query("q", window=window), query("r", window=window), strategy="auto"))
    one.feed(batch("A", [over - 1]))
    assert one.changing
    one.feed(batch("A", [over]))
    assert not one.changing


def test_tumbling_windows_that_end_with_the_moment_are_over_at_once() -> None:
    one = begun(planned(query("q", window=TUMBLING), query("r", window=TUMBLING), strategy="cogra"))
    one.feed(batch("A", [19]))
    one.change(planned(query("q", window=TUMBLING), query("r", window=TUMBLING)))
    one.feed(batch("A", [20]))
    assert not one.changing


def test_parts_of_both_plans_go_on() -> None:
    one = begun(planned(query("q"), query("r"), query("x", "X")))
    one.feed(batch("A", [1]))
    one.change(planned(query("x", "X"), query("q"), query("r"), query("y", "SEQ(Y, Z)")))
    assert not one.changing


def test_who_leaves_a_share_set_leaves_it_as_it_is() -> None:
    """Nothing has to run twice until all queries are planned anew."""
    running = planned(query("q"), query("r"), query("s"))
    one = begun(running)
    one.feed(batch("A", [1]))
    left = check_text("; ".join((query("q"), query("r"))))
    one.change(changed(running, left))
    assert not one.changing
    rows = one.feed(batch("A", [11]))
    assert {row["query"] for row in shown(one, rows)} == {"q", "r"}
    one.change(plan(left))
    assert one.changing


def test_who_comes_back_is_new() -> None:
    """Though its share set never went, nor is another one by the new plan."""
    texts = [query("q"), query("r"), query("s")]
    one = begun(planned(*texts))
    rows = one.feed(batch("A", [1]))
    one.change(changed(one.plan, check_text("; ".join(texts[:2]))))
    rows += one.feed(batch("A", [8]))
    one.change(planned(*texts))
    rows += [*one.feed(batch("A", [16])), *one.finish()]
    assert windows(one, rows, "s") == [(10, 20, 1), (15, 25, 1)]
    assert windows(one, rows, "q") == [(-5, 5, 1), (0, 10, 3), (5, 15, 1), (10, 20, 1), (15, 25, 1)]


def test_the_last_query_goes_and_another_one_comes() -> None:
    one = begun(planned(query("q")))
    rows = one.feed(batch("A", [1]))
    one.change(Plan("auto", ()))
    assert one.columns == ()
    rows += one.feed(batch("A", [8, 12]))
    one.change(planned(query("q")))
    rows += [*one.feed(batch("A", [16])), *one.finish()]
    assert windows(one, rows, "q") == [(15, 25, 1)]


def test_lengths_that_the_clock_does_not_count() -> None:
    one = begun(planned(query("q")))
    with pytest.raises(WorkloadError, match="a window or slide of 500 ms is no whole number of this engine's ticks"):
        one.change(planned(query("half", window="WITHIN 500 ms SLIDE 500 ms")))
    finer = begun(planned(query("q")), ticks=1000)
    finer.change(planned(query("half", window="WITHIN 500 ms SLIDE 500 ms")))
    assert windows(finer, [*finer.feed(batch("A", [1200])), *finer.finish()], "half") == [(1, 1.5, 1)]


@pytest.mark.parametrize("window", [TUMBLING, MOVING])
def test_floats_stay_floats(window: str) -> None:
    """Where an attribute once was 1.5, its maximum is 2.0, in the new plan as in the old one."""
    text = [query(name, window=window, items="COUNT(*), MAX(A.v), SUM(A.v)") for name in "qr"]
    events = [batch("A", [1], v=[1.5]), batch("A", [25, 37], v=[2, 3])]

    def run(change: bool) -> list[Row]:
        one = begun(planned(*text, strategy="cogra"))
        rows = one.feed(events[0])
        if change:
            one.change(planned(*text))
        return shown(one, [*rows, *one.feed(events[1]), *one.finish()])

    assert [repr(row) for row in run(True)] == [repr(row) for row in run(False)]
    assert {type(row["MAX(A.v)"]) for row in run(True)} == {float}


def test_decisions_of_both_plans_are_told() -> None:
    made = planned(query("q"), query("r"))
    one = Engine(made, Clock.of(pa.int64(), "s", made.spans), record_decisions=True)
    one.feed(batch("A", range(10)))
    one.change(planned(query("q"), query("r"), query("s")))
    one.feed(batch("A", range(10, 60)))
    one.finish()
    assert not one.changing
    queries = one.decisions()["apart"].to_pylist()
    assert {name for names in queries for name in names} <= {"q", "r", "s"}
    assert one.decisions()["time"].to_pylist()[0] == 0


def test_restored_with_another_plan_it_is_changed_to_it() -> None:
    one = begun(planned(query("old")))
    rows = one.feed(batch("A", [1, 6]))
    other = Engine.restore(planned(query("old"), query("new")), one.save())
    rows += [*other.feed(batch("A", [12, 16])), *other.finish()]
    assert windows(other, rows, "new") == [(10, 20, 3), (15, 25, 1)]
    assert windows(other, rows, "old") == [(-5, 5, 1), (0, 10, 3), (5, 15, 3), (10, 20, 3), (15, 25, 1)]


FLAT = ("SEQ(A, B+)", "SEQ(A, B, C)", "SEQ(B, C)", "B+", "SEQ(C, B+)", "SEQ(A, B, D)")
PATTERNS = (*FLAT, "C & SEQ(A, B+)")
LINKED = "WHERE [k] AND B.v < NEXT(B).v"
WAYS = {
    **{f"{name} {strategy}": (window, strategy, "WHERE [k]")
       for strategy in ("auto", "gloria", "prefix", "cogra")
       for name, window in (("tumbling", TUMBLING), ("sliding", SLIDING))},
    "moving auto": (MOVING, "auto", "WHERE [k]"),
    "linked auto": (SLIDING, "auto", LINKED),
    "sliding sharon": (SLIDING, "sharon", "WHERE [k]"),
}  # fmt: skip


def stream(count: int, partitions: int) -> pa.RecordBatch:
    random = np.random.default_rng(4)
    types = np.array(list("ABBBCD"))[random.integers(0, 6, count // 3)].repeat(3)
    times, values = np.sort(random.integers(0, count // 3, count // 3 * 3)), random.integers(0, 9, count // 3 * 3)
    alive = (times // 40 * 7 + random.integers(0, 7, len(times))) % partitions
    return batch([*types], times, k=alive, v=values)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("window", "strategy", "where"), WAYS.values(), ids=WAYS)
def test_undisturbed_by_others_on_a_longer_stream(
    window: str, strategy: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions are forgotten, queries come and go, states are restored: `q0` to `q2` are there all the time."""
    monkeypatch.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", 16)
    patterns = FLAT if strategy == "sharon" else PATTERNS
    texts = [
        query(f"q{n}", pattern, window, where=where if "B+" in pattern else "WHERE [k]")
        for n, pattern in enumerate(patterns)
    ]
    events = stream(1800, 400)
    expected = fed(begun(planned(*texts[:3], strategy="cogra")), cut(events, 300))
    one, rows = begun(planned(*texts[:3], strategy=strategy)), list[Rows]()
    random = np.random.default_rng(7)
    for part in cut(events, 60):
        rows += one.feed(part)
        chosen = check_text("; ".join([*texts[:3], *(text for text in texts[3:] if random.random() < 0.6)]))
        one.change(changed(one.plan, chosen) if random.random() < 0.5 else plan(chosen, strategy))
        one = Engine.restore(one.plan, one.save())
    found = shown(one, [*rows, *one.finish()])
    assert [row for row in found if row["query"] in ("q0", "q1", "q2")] == expected
    assert len({row["query"] for row in found}) == len(patterns)
