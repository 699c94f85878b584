"""Test `elsinore.why`, `result.why` and the command: what they say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.cli import app
from elsinore.planner.language.syntax import Not, nodes
from elsinore.reasons.edits import without_negation
from elsinore.reasons.spelling import distance, near
from tests.support.one_workload import EVENTS, ROWS, WORKLOAD

MISSPELLED = WORKLOAD.replace("Cancel", "Cancle")


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("Cancel", "Cancle", 1), ("ab", "ab", 0), ("abc", "axc", 1), ("abc", "", 3)]
)
def test_edits_between_texts(one: str, other: str, edits: int) -> None:
    assert distance(one, other, 5) == edits
    assert distance(other, one, 5) == edits


def test_nothing_is_near_a_text_that_differs_much() -> None:
    assert near("Cancel", ["Request", "Travel"]) is None
    assert near("A", ["B"]) is None
    assert near("a_b", ["A B"]) is not None


def test_it_says_what_where_and_how_to_mend_it() -> None:
    text = str(elsinore.why(MISSPELLED, EVENTS))
    assert "query rides: no row from 6 events" in text
    assert "It gets as far as SEQ(Request R, Travel T+) (2 of 3 parts)" in text
    assert "query rides, line 4, column 35: no event has the type `Cancle`" in text
    assert "write Cancel: then there is 1 row" in text


def test_a_result_explains_itself_and_keeps_its_rows() -> None:
    result = elsinore.run(MISSPELLED, EVENTS, engine="local")
    assert result.why().to_dict() == elsinore.why(MISSPELLED, EVENTS).to_dict()
    rows = elsinore.run(WORKLOAD, EVENTS, engine="local")
    rows.why()
    assert rows.rows() == ROWS


def test_a_query_with_rows_has_no_cause() -> None:
    (reason,) = elsinore.why(WORKLOAD, EVENTS).reasons
    assert (reason.rows, reason.causes) == (1, ())
    assert "1 events of the pattern have no value of `district`, and are dropped" in reason.notes


def test_events_that_are_read_once_are_not_kept() -> None:
    reader = pl.DataFrame(EVENTS).to_arrow().to_reader()
    result = elsinore.run(MISSPELLED, reader, engine="local")
    with pytest.raises(elsinore.InputError, match="cannot be read again"):
        result.why()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"query": "ride"}, "the workload has no query 'ride'; it has rides"),
        ({"group": {"town": "x"}}, "the query rides groups by district"),
        ({"group": "a,district=b"}, "the query rides groups by district"),
        ({"group": "district=a,b=c"}, "the query rides groups by district"),
        ({"window": "soon"}, "--window soon is no time like those of the events"),
    ],
)
def test_what_is_asked_must_be_there(asked: dict[str, object], message: str) -> None:
    with pytest.raises(elsinore.InputError, match=message):
        elsinore.why(WORKLOAD, EVENTS, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["a,b", "", "a=b", ",", "="])
def test_a_group_may_be_any_text(value: str) -> None:
    """Only a comma that a name follows parts two groups."""
    (cause,) = elsinore.why(WORKLOAD, EVENTS, group=f"district={value}").reasons[0].causes
    assert cause.problem.message == f"no event has {value!r} in `district`"


@pytest.mark.parametrize("query", [WORKLOAD, "RETURN MATCHES PATTERN SEQ(A, NOT B) WITHIN 9 events"])
def test_of_no_events_it_says_that_there_are_none(tmp_path: Path, query: str) -> None:
    (tmp_path / "events.csv").write_text("type,time,district,rider,driver,speed,duration\n")
    assert "there are no events" in str(elsinore.why(query, tmp_path / "events.csv"))
    assert "there are no events" in str(elsinore.why(query, []))


def test_alternatives_that_are_all_left_out_are_left_out_too() -> None:
    query = "RETURN COUNT(*) PATTERN SEQ((NOT A | NOT C), B x, B y) WITHIN 9 seconds SLIDE 9 seconds"
    (changed,) = elsinore.parse(query).queries
    for part in [node for node in nodes(changed.pattern) if isinstance(node, Not)]:
        changed = without_negation(part)(changed)
    assert str(changed.pattern) == "SEQ(B x, B y)"
    assert elsinore.why(query, [{"type": "B", "time": 1}, {"type": "A", "time": 2}]).reasons[0].rows == 0


def test_changes_whose_windows_no_clock_counts_are_not_tried() -> None:
    """Events of one time are parted by a clock so fine that it counts no window of many days."""
    query = "RETURN MATCHES PATTERN SEQ(A a, B b) WHERE a.v > b.v WITHIN 40 days"
    events = [{"type": kind, "time": 0.5, "v": 1} for kind in "AB"]
    assert elsinore.why(query, events).reasons[0].rows == 0


def test_the_command(tmp_path: Path) -> None:
    workload, events = tmp_path / "rides.elsinore", tmp_path / "events.jsonl"
    workload.write_text(MISSPELLED)
    events.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    asked = ["why", str(workload), "--events", str(events)]
    done = CliRunner().invoke(app, asked)
    assert (done.exit_code, "write Cancel: then there is 1 row" in done.stdout) == (0, True)
    found = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    (reason,) = found["reasons"]
    assert [cause["kind"] for cause in reason["causes"]] == ["type"]
    assert reason["causes"][0]["change"]["rows"] == 1
