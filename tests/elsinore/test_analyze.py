"""What `explain` shows of a run beside its plan, against counts by hand and against the same run without it."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.cli.commands import app
from elsinore.cluster.run.analyzed import AnalyzedRun
from elsinore.connectors.sources import open_events
from elsinore.inputs import checked
from elsinore.planner.detection.sets import with_event_columns
from elsinore.planner.explain.counted import RunCounts
from elsinore.planner.plans.planning import plan

WINDOW = "WITHIN 10 seconds SLIDE 10 seconds"
AGGREGATES = f"""
QUERY fast RETURN COUNT(*) PATTERN SEQ(A, B b+) WHERE b.x > 2 AND b.y != 'no' {WINDOW};
QUERY keyed RETURN k, COUNT(*) PATTERN SEQ(C, B b+) WHERE b.x > 2 GROUP-BY k {WINDOW};
QUERY all RETURN COUNT(*) PATTERN SEQ(D, NOT C c, B+) WHERE c.x = 1 WITHIN 10 seconds SLIDE 5 seconds;
QUERY both RETURN COUNT(*) PATTERN AND(A, B+) {WINDOW};
QUERY counted RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 8 events SLIDE 4 events
"""
MATCHES = """
QUERY found RETURN MATCHES PATTERN SEQ(A a, B b) WHERE a.x > 1 AND a.x < b.x WITHIN 10 seconds;
QUERY more RETURN MATCHES PATTERN SEQ(A a, B b, D d) WHERE a.x > 1 AND a.x < b.x WITHIN 10 seconds
"""
WORKLOAD = f"{AGGREGATES};{MATCHES}"
EVENTS = [
    {"type": "ABCDE"[at % 5 if at % 4 else 1], "time": at, "x": at % 6, "y": "no" if at % 3 else "yes", "k": k}
    for at, k in enumerate([None, "a", "b", "a", "a", "b"] * 20)
]


def counts(workload: str = WORKLOAD, strategy: str = "auto", events: Any = EVENTS) -> RunCounts:
    source = open_events(events)
    made = with_event_columns(plan(checked(workload), strategy), source.event_columns)
    return AnalyzedRun(made, source, lateness=Fraction(0), whole=False).counts()


def of_type(name: str) -> list[dict[str, Any]]:
    return [event for event in EVENTS if event["type"] == name]


def taken(found: RunCounts, query: str, variable: str) -> tuple[int, int, int]:
    (one,) = (one for one in found.queries[query].variables if one.variable == variable)
    return one.events, one.keyless, one.filtered


def test_events_of_a_query_are_taken_in_or_filtered_out_or_have_no_key() -> None:
    found, b = counts(), of_type("B")
    assert found.types == {name: len(of_type(name)) for name in "ABCDE"}
    assert taken(found, "fast", "A") == (len(of_type("A")), 0, 0)
    slow = [one for one in b if not (one["x"] > 2 and one["y"] != "no")]
    assert taken(found, "fast", "b") == (len(b), 0, len(slow))
    keyed = [one for one in b if one["k"] is not None]
    slow = [one for one in keyed if one["x"] <= 2]
    assert taken(found, "keyed", "b") == (len(b), len(b) - len(keyed), len(slow))
    others = [one for one in of_type("C") if one["x"] != 1]
    assert taken(found, "all", "c") == (len(of_type("C")), 0, len(others))
    low = [one for one in of_type("A") if one["x"] <= 1]
    assert taken(found, "found", "a") == (len(of_type("A")), 0, len(low))
    assert min(map(len, (slow, others, low))) > 0


@pytest.mark.parametrize("strategy", ["auto", "hamlet", "gloria", "cogra"])
def test_counts_are_those_of_a_run(strategy: str) -> None:
    found = counts(AGGREGATES, strategy)
    result = elsinore.run(AGGREGATES, EVENTS, engine="local", strategy=strategy)
    assert {name: one.rows for name, one in found.queries.items()} == {
        name: len(result.query(name)) for name in result.queries
    }
    told = result.metrics
    assert (found.events, found.rows, found.dropped) == (told.events, told.rows, told.dropped)
    assert sum(one.bursts for one in found.sets) == told.bursts
    assert sum(one.shared_bursts for one in found.sets) == told.shared_bursts
    assert sum(one.snapshots for one in found.sets) == told.snapshots
    assert told.bursts > 0 or strategy in ("cogra", "gloria")
    shared = {name for name, one in found.queries.items() if one.seconds is None}
    assert bool(shared) == bool(found.sets)


def test_stored_matches_are_those_of_the_enumeration() -> None:
    found = counts(MATCHES, "share")
    pairs = [
        (a, b) for a, b in product(of_type("A"), of_type("B")) if 0 < b["time"] - a["time"] < 10 and 1 < a["x"] < b["x"]
    ]
    assert found.queries["found"].rows == len(pairs) > 0
    (stored,) = (one.found for one in found.sets if one.found)
    assert list(stored.values()) == [len(pairs)]
    text = elsinore.explain(MATCHES, "share", EVENTS, analyze=True)
    (line,) = (line for line in text.splitlines() if f"; {len(pairs):,} stored by the run" in line)
    assert "SEQ(A[A.x > 1], B)" in line
    assert " expected, " in line


def test_the_seconds_of_the_parts_are_those_of_the_run() -> None:
    found = counts()
    parts = [seconds for what, seconds in found.parts.items() if not what.startswith("of these")]
    assert sum(parts) == pytest.approx(found.seconds)
    own = [one.seconds for one in found.queries.values() if one.seconds is not None]
    assert sum(own) + sum(one.seconds for one in found.sets) == pytest.approx(found.parts["in graphs"])
    assert min(one.seconds for one in found.sets) > 0


@pytest.mark.parametrize(("workload", "strategy"), [(WORKLOAD, "auto"), (MATCHES, "mpm"), (AGGREGATES, "hamlet")])
def test_the_plan_is_the_same_with_counts_beside_it(workload: str, strategy: str) -> None:
    plain = elsinore.explain(workload, strategy, EVENTS if "MATCHES" in workload else None)
    told = elsinore.explain(workload, strategy, EVENTS, analyze=True)
    assert [line for line in nodes(plain) if not any(other.startswith(line) for other in nodes(told))] == []
    assert "run in this process, in one thread, over 120 events" in nodes(told)
    assert any(re.fullmatch(r"ignored \d+ events of types that no query names: (C, )?E", line) for line in nodes(told))
    assert sum(line.startswith("rows ") for line in nodes(told)) == 1 + workload.count("QUERY")


def nodes(text: str) -> list[str]:
    return [line.lstrip("├└─ ") for line in text.splitlines()]


def test_events_in_no_row_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    lines = [*EVENTS[:40], {"type": "A"}, {"type": "B", "time": -100, "x": 1, "k": "a"}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    workload = f"QUERY keyed RETURN k, COUNT(*) PATTERN SEQ(A, B+) GROUP-BY k {WINDOW}"
    text = elsinore.explain(workload, events=path, analyze=True)
    assert re.search(r"in no row 1 dead, \d+ dropped, for want of a key", text)
    assert "rows " in text


def test_the_command_shows_the_same(tmp_path: Path) -> None:
    workload, events = tmp_path / "w.elsinore", tmp_path / "events.jsonl"
    workload.write_text(WORKLOAD)
    events.write_text("".join(f"{json.dumps(event)}\n" for event in EVENTS))
    done = CliRunner().invoke(app, ["explain", str(workload), "--events", str(events), "--analyze"])
    assert done.exit_code == 0, done.stderr
    assert untimed(done.stdout) == untimed(elsinore.explain(workload, events=events, analyze=True) + "\n")


def untimed(text: str) -> list[str]:
    return [line for line in text.splitlines() if "─ seconds" not in line]


def test_what_cannot_be_analyzed_is_refused() -> None:
    with pytest.raises(elsinore.InputError, match="give some with analyze"):
        elsinore.explain(WORKLOAD, analyze=True)
    with pytest.raises(elsinore.InputError, match="lateness is for a run"):
        elsinore.explain(WORKLOAD, events=EVENTS, lateness=3)
    with pytest.raises(elsinore.InputError, match="read twice"):
        elsinore.explain(WORKLOAD, events=iter(EVENTS), analyze=True)
    with pytest.raises(elsinore.WorkloadError, match="line 1, column"):
        elsinore.explain(f"QUERY q RETURN COUNT(*) PATTERN A a WHERE a.y > 3 {WINDOW}", events=EVENTS, analyze=True)
