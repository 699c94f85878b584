"""Strategies to compare with: the same rows on longer streams, their limits, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.actors.engine import Engine
from elsinore.cli import app
from elsinore.planner.language.errors import WorkloadError
from tests.support.long_streams import within
from tests.support.streams import batch, cut, engine, fed, planned, rows_of


@pytest.mark.parametrize("count", [8, 9, 16, 17, 128])
def test_sequences_are_as_long_as_the_stream_asks(count: int) -> None:
    events = batch("B", range(count), v=range(count))
    text = "RETURN COUNT(*), COUNT(B), SUM(B.v), MAX(B.v) PATTERN B+ WITHIN 200 seconds SLIDE 200 seconds"
    (row,) = rows_of(text, "sharon", events)
    assert row["COUNT(*)"] == 2**count - 1
    assert row == rows_of(text, "auto", events)[0]


def test_a_lane_that_is_added_when_sequences_have_grown() -> None:
    """A float needs digits that no integer before it did."""
    times = range(40)
    events = batch("B", times, f=[float(time) for time in times[:20]] + [time / 2**40 for time in times[20:]])
    text = "RETURN COUNT(*), SUM(B.f) PATTERN B+ WITHIN 20 seconds SLIDE 10 seconds"
    one = engine(text, "sharon")
    assert fed(one, cut(events, 15)) == rows_of(text, "auto", events)


def test_what_is_longer_than_any_sequence() -> None:
    with pytest.raises(WorkloadError) as caught:
        rows_of(
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
    assert rows_of(text, "two-step", events.slice(0, count)) == rows_of(text, "auto", events.slice(0, count))
    one = engine(text, "two-step")
    with pytest.raises(WorkloadError) as caught:
        fed(Engine.restore(one.plan, one.save()), cut(events, 3))
    assert "query many, " in str(caught.value)
    assert f"constructs more than {allowed:,} trends, whole or begun" in str(caught.value)
    assert 'use strategy="auto"' in str(caught.value)
    assert f"the window {last}" in str(caught.value)


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
        pytest.param(
            *("two-step", "WITHIN 300 seconds SLIDE 300 seconds", "constructs more than 10,000,000 trends"),
            marks=pytest.mark.slow,
        ),
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
