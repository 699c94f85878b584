"""Strategies to compare with: the same rows on longer streams, their limits, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.actors.engine import Engine
from elsinore.cli import app
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.long_streams import EVENTS, query, within
from tests.support.streams import Row, batch, cut, fed, shown

SHORT = EVENTS.slice(0, 3000)
OTHERS = ("greta", "two-step", "sharon")


def planned(text: str, strategy: str) -> Plan:
    return plan(check_text(text), strategy)


def engine(text: str, strategy: str, numeric: str = "exact") -> Engine:
    made = planned(text, strategy)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric)


def run(text: str, strategy: str, events: pa.RecordBatch = SHORT) -> list[Row]:
    return fed(engine(text, strategy), [events])


@pytest.mark.parametrize("strategy", OTHERS)
@pytest.mark.parametrize("slide", [60, 25])
def test_rows_are_those_of_auto(strategy: str, slide: int) -> None:
    """A trend of two-step has some 5 events here; sequences of sharon grow once."""
    text = query(within(60, slide))
    expected = run(text, "auto")
    assert len(expected) > 50
    assert run(text, strategy) == expected


@pytest.mark.parametrize("strategy", ["greta", "two-step"])
@pytest.mark.parametrize(
    "text",
    [
        query(within(60)),
        query(within(60, 20), "next"),
        query(within(60, 20), "contiguous", "[k] AND B.v < NEXT(B).v"),
        query(within(60), "next", "[k] AND B.v < NEXT(B).v"),
        query(within(60, 20), pattern="SEQ(A, NOT X, B+, C)"),
        f"RETURN g, COUNT(*), SUM(B.v) PATTERN AND(SEQ(A, B+), C) WHERE [k] GROUP-BY g {within(60, 20)}",
    ],
)
def test_other_queries_have_the_rows_of_auto(strategy: str, text: str) -> None:
    expected = run(text, "auto")
    assert len(expected) > 20
    assert run(text, strategy) == expected


def test_negation_with_neighbours_event_by_event() -> None:
    text = query(within(300, 100), pattern="SEQ(A, NOT X+, B+, C)", where="[k] AND X.v < NEXT(X).v")
    expected = run(text, "auto")
    assert len(expected) > 20
    assert run(text, "greta") == expected


@pytest.mark.parametrize("strategy", OTHERS)
def test_saved_and_restored_between_batches(strategy: str) -> None:
    text = query(within(60, 30))
    one, rows = engine(text, strategy), []
    for part in cut(SHORT, 250):
        rows += one.feed(part)
        one = Engine.restore(planned(text, strategy), one.save())
    assert shown(one, [*rows, *one.finish()]) == run(text, strategy)


@pytest.mark.parametrize("count", [8, 9, 16, 17, 128])
def test_sequences_are_as_long_as_the_stream_asks(count: int) -> None:
    events = batch("B", range(count), v=range(count))
    text = "RETURN COUNT(*), COUNT(B), SUM(B.v), MAX(B.v) PATTERN B+ WITHIN 200 seconds SLIDE 200 seconds"
    (row,) = run(text, "sharon", events)
    assert row["COUNT(*)"] == 2**count - 1
    assert row == run(text, "auto", events)[0]


def test_a_lane_that_is_added_when_sequences_have_grown() -> None:
    """A float needs digits that no integer before it did."""
    times = range(40)
    events = batch("B", times, f=[float(time) for time in times[:20]] + [time / 2**40 for time in times[20:]])
    text = "RETURN COUNT(*), SUM(B.f) PATTERN B+ WITHIN 20 seconds SLIDE 10 seconds"
    one = engine(text, "sharon")
    assert fed(one, cut(events, 15)) == run(text, "auto", events)


def test_what_is_longer_than_any_sequence() -> None:
    with pytest.raises(WorkloadError) as caught:
        run(
            "QUERY long RETURN COUNT(*) PATTERN B+ WITHIN 500 seconds SLIDE 250 seconds",
            "sharon",
            batch("B", range(129)),
        )
    assert "query long, " in str(caught.value)
    assert "in the window from -250 to 250 Kleene can match 129 events of one partition" in str(caught.value)
    assert 'use strategy="auto"' in str(caught.value)


@pytest.mark.parametrize(
    ("window", "last"), [("WITHIN 10 seconds SLIDE 10 seconds", "from 10 to 20"), ("WITHIN 10 seconds", "from 1 to 11")]
)
def test_more_trends_than_can_be_constructed(window: str, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as allowed are no mistake: 2 ** 10 - 1 in the first ten seconds, and then some."""
    text = f"QUERY many RETURN COUNT(*), SUM(B.v) PATTERN B+ {window}"
    allowed = 1023 if "SLIDE" in window else sum(2**n - 1 for n in range(1, 11)) + 1023
    monkeypatch.setattr("elsinore.actors.baselines.two_step_graph.LIMIT", allowed)
    events = batch("B", range(20), v=[1] * 20)
    count = 10 if "SLIDE" in window else 11
    assert run(text, "two-step", events.slice(0, count)) == run(text, "auto", events.slice(0, count))
    one = engine(text, "two-step")
    with pytest.raises(WorkloadError) as caught:
        fed(Engine.restore(one.plan, one.save()), cut(events, 3))
    assert "query many, " in str(caught.value)
    assert f"constructs more than {allowed:,} trends, whole or begun" in str(caught.value)
    assert 'use strategy="auto"' in str(caught.value)
    assert f"the window {last}" in str(caught.value)


REFUSED = [
    (
        "two-step",
        "SEQ(A, NOT B+, C)",
        "any",
        "B.v < NEXT(B).v",
        "the predicate on neighbours B.v < NEXT(B).v inside of NOT",
    ),
    ("sharon", "(SEQ(A, B))+", "any", "A.v > 0", "Kleene over more than one event type: (SEQ(A, B))+"),
    ("sharon", "A+", "any", "A.v < NEXT(A).v", "the predicate on neighbours A.v < NEXT(A).v"),
    ("sharon", "A+", "next", "A.v > 0", "SEMANTICS skip-till-next-match"),
    ("sharon", "A+", "contiguous", "A.v > 0", "SEMANTICS contiguous"),
    ("sharon", "A+ & B", "any", "A.v > 0", "AND"),
    ("a-seq", "SEQ(A, B+)", "any", "A.v > 0", "repeated or optional parts: B+"),
    ("a-seq", "SEQ(A, B?)", "any", "A.v > 0", "repeated or optional parts: B?"),
    ("a-seq", "SEQ(A, (B | C))", "any", "A.v > 0", "OR: B | C"),
    ("a-seq", "SEQ(A, NOT SEQ(B, C), D)", "any", "A.v > 0", "NOT over more than one event type: NOT SEQ(B, C)"),
    ("a-seq", "A & B", "any", "A.v > 0", "AND"),
    ("a-seq", "SEQ(A, B)", "any", "A.v < B.v", "the predicate on neighbours A.v < B.v"),
    ("a-seq", "SEQ(A, B)", "next", "A.v > 0", "SEMANTICS skip-till-next-match"),
]


@pytest.mark.parametrize(("strategy", "pattern", "semantics", "where", "what"), REFUSED)
def test_refused_by_name(strategy: str, pattern: str, semantics: str, where: str, what: str) -> None:
    text = (
        f"QUERY fine RETURN COUNT(*) PATTERN SEQ(A, B) {within(10, 10)}\n"
        f"QUERY odd RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics} WHERE {where} {within(10, 10)}"
    )
    with pytest.raises(WorkloadError) as caught:
        planned(text, strategy)
    (problem,) = caught.value.problems
    assert (problem.query, problem.message) == ("odd", f"strategy {strategy} cannot run {what}")
    assert str(caught.value).startswith("query odd, line 2, column ")
    assert 'use strategy="auto"' in problem.hint


def test_everything_that_is_refused_is_said_at_once() -> None:
    text = (
        "QUERY one RETURN COUNT(*) PATTERN A+ & B WITHIN 10 seconds; "
        f"QUERY two RETURN COUNT(*) PATTERN (SEQ(A, B))+ {within(5, 5)}"
    )
    with pytest.raises(WorkloadError) as caught:
        planned(text, "sharon")
    assert [problem.query for problem in caught.value.problems] == ["one", "one", "two"]


@pytest.mark.parametrize(
    ("strategy", "window", "said"),
    [
        ("sharon", "WITHIN 10 seconds", "strategy sharon cannot run windows that move with every event"),
        ("sharon", "WITHIN 300 seconds SLIDE 300 seconds", "Kleene can match 200 events"),
        ("two-step", "WITHIN 300 seconds SLIDE 300 seconds", "constructs more than 10,000,000 trends"),
    ],
)
def test_on_the_command_line_it_is_bad_input(strategy: str, window: str, said: str, tmp_path: Path) -> None:
    workload, events = tmp_path / "w.elsinore", tmp_path / "e.csv"
    workload.write_text(f"RETURN COUNT(*) PATTERN A+ {window}")
    events.write_text("type,time\n" + "".join(f"A,{time}\n" for time in range(200)))
    done = CliRunner().invoke(app, ["run", str(workload), "--events", str(events), "--strategy", strategy])
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_explain_tells_of_the_strategy() -> None:
    def first(strategy: str) -> str:
        return elsinore.explain(f"RETURN COUNT(*) PATTERN A+ {within(10, 10)}", strategy).partition("\n")[0]

    assert first("cogra") == "plan: strategy cogra, every query apart at its coarsest granularity"
    assert first("greta") == "plan: strategy greta, every query apart, a node for every event"
    assert first("two-step").endswith("all trends constructed before they are aggregated")
    assert first("sharon").endswith("Kleene flattened into sequences of fixed length")
    alone = elsinore.explain(f"RETURN COUNT(*) PATTERN SEQ(A, B) {within(10)}", "a-seq")
    assert "every query apart, a counter for each prefix of its sequence" in alone
    assert "a row of prefix counters per start event, which leave with it" in alone
