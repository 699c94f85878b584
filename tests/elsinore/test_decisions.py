"""Test the recorded decisions about bursts: a table of the result, or a file."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import elsinore
from elsinore.cli import app

WORKLOAD = """
QUERY rides RETURN district, COUNT(*) PATTERN SEQ(Request R, Travel T+)
GROUP-BY district WITHIN 60 seconds SLIDE 60 seconds

QUERY cancelled RETURN district, SUM(T.speed) PATTERN SEQ(Travel T+, Cancel C)
WHERE T.speed < 90 GROUP-BY district WITHIN 60 seconds SLIDE 30 seconds

QUERY requests RETURN COUNT(*) PATTERN Request WITHIN 60 seconds SLIDE 60 seconds
"""
TYPES = ["Request", *["Travel"] * 6, "Cancel", *["Travel"] * 4]
EVENTS = [
    {"type": kind, "time": time, "district": "west", "speed": 50 if kind == "Travel" else None}
    for time, kind in enumerate(TYPES)
]
COLUMNS = [
    *("share_set", "kleene", "time", "events", "events_in_window", "snapshots_created", "snapshots_propagated"),
    *("cost_shared", "cost_apart", "choice", "change", "shared", "apart"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the default costs instead of those measured on this machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    Path("rides.elsinore").write_text(WORKLOAD)
    Path("events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", "rides.elsinore", "--events", "events.jsonl", *arguments])


def test_a_row_for_every_burst_of_what_could_be_shared(folder: Path) -> None:
    decisions = elsinore.run(WORKLOAD, EVENTS, decisions=True).decisions
    assert decisions.column_names == COLUMNS
    rows = decisions.to_pylist()
    assert [(row["kleene"], row["time"], row["events"], row["events_in_window"]) for row in rows] == [
        ("Travel+", 1, 6, 7),
        ("Travel+", 8, 4, 12),
    ]
    for row in rows:
        assert sorted(row["shared"] + row["apart"]) == ["cancelled", "rides"]
        assert (row["choice"] == "shared") == (row["apart"] == []) == (row["snapshots_created"] > 0)
        assert (row["cost_shared"] < row["cost_apart"]) == (row["choice"] == "shared")


def test_counts_of_the_metrics_are_those_of_the_table(folder: Path) -> None:
    result = elsinore.run(WORKLOAD, EVENTS, decisions=True)
    rows = result.decisions.to_pylist()
    assert result.metrics.bursts == len(rows) == 2
    assert result.metrics.shared_bursts == sum(row["choice"] != "apart" for row in rows)
    assert result.metrics.snapshots == sum(row["snapshots_created"] for row in rows)
    assert result.metrics.decision_seconds >= 0
    assert elsinore.run(WORKLOAD, EVENTS).metrics.bursts == 2


def test_recording_changes_no_row() -> None:
    assert elsinore.run(WORKLOAD, EVENTS, decisions=True).rows() == elsinore.run(WORKLOAD, EVENTS).rows()


def test_decisions_that_were_not_asked_for() -> None:
    with pytest.raises(elsinore.InputError, match=r"ask for them with elsinore\.run\(\.\.\., decisions=True\)"):
        _ = elsinore.run(WORKLOAD, EVENTS).decisions


@pytest.mark.parametrize("strategy", ["cogra", "greta"])
def test_a_strategy_that_shares_nothing_has_no_decisions(strategy: str) -> None:
    result = elsinore.run(WORKLOAD, EVENTS, strategy=strategy, decisions=True)
    assert result.decisions.num_rows == 0
    assert result.decisions.column_names == COLUMNS
    assert result.metrics.bursts == 0


def test_one_decision_for_all_bursts(folder: Path) -> None:
    rows = elsinore.run(WORKLOAD, EVENTS, strategy="hamlet-static", decisions=True).decisions.to_pylist()
    assert len({row["choice"] for row in rows}) == 1
    assert {row["change"] for row in rows} == {None}


def test_times_are_those_of_the_stream() -> None:
    noon = datetime(2026, 1, 1, 12)
    stamped = [{**event, "time": noon + timedelta(seconds=time)} for time, event in enumerate(EVENTS)]
    decisions = elsinore.run(WORKLOAD, stamped, decisions=True).decisions
    assert pa.types.is_timestamp(decisions["time"].type)
    assert decisions["time"].to_pylist() == [noon + timedelta(seconds=1), noon + timedelta(seconds=8)]
    quarters = [{**event, "time": time / 4} for time, event in enumerate(EVENTS)]
    assert elsinore.run(WORKLOAD, quarters, decisions=True).decisions["time"].to_pylist() == [0.25, 2.0]


def test_decisions_of_one_query_of_the_result() -> None:
    """Test that decisions, which concern all queries, are kept in the result of one query."""
    result = elsinore.run(WORKLOAD, EVENTS, decisions=True)
    assert result.query("rides").decisions.equals(result.decisions)


def expected() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = elsinore.run(WORKLOAD, EVENTS, decisions=True).decisions.to_pylist()
    return rows


@pytest.mark.parametrize("name", ["decisions.parquet", "DECISIONS.PARQUET"])
def test_as_parquet(folder: Path, name: str) -> None:
    done = call("--decisions", name)
    assert done.exit_code == 0, done.stderr
    assert pq.read_table(name).to_pylist() == expected()


def test_as_json_lines(folder: Path) -> None:
    done = call("--decisions", "decisions.jsonl")
    assert done.exit_code == 0, done.stderr
    assert [json.loads(line) for line in Path("decisions.jsonl").read_text().splitlines()] == expected()


def test_rows_are_written_too_and_the_summary_counts_bursts(folder: Path) -> None:
    done = call("--decisions", "decisions.jsonl")
    assert done.stdout == call().stdout != ""
    assert " of 2 bursts shared, " in done.stderr


@pytest.mark.parametrize("name", ["decisions.csv", "decisions", "decisions.json"])
def test_a_name_that_tells_no_form_is_refused_before_the_run(folder: Path, name: str) -> None:
    done = call("--decisions", name, "--out", "rows.jsonl")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{name}: the file name must end in .parquet or .jsonl." in done.stderr
    assert not Path("rows.jsonl").exists()


def test_a_folder_that_is_not_there(folder: Path) -> None:
    done = call("--decisions", "none/decisions.jsonl")
    assert done.exit_code in (1, 2)
    assert "none/decisions.jsonl" in done.stderr
    assert "Traceback" not in done.stderr
