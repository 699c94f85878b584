"""Test the commands that send requests to a service, against the small server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console
from typer.testing import CliRunner

from elsinore.cli import app
from elsinore.cli.jobs_table import Rates, board
from elsinore.client.facts import JobStatus
from tests.elsinore.client.scripted import DOCUMENT
from tests.elsinore.client.small import ROWS, TABLE, TOKEN, WRITTEN, Small, small


@pytest.fixture
def service() -> Iterator[Small]:
    with small(rows=WRITTEN) as running:
        yield running


def told(service: Small, *words: str, token: str = TOKEN) -> Any:
    return CliRunner(env={"ELSINORE_TOKEN": token, "ELSINORE_URL": service.url}).invoke(app, words)


def test_a_job_from_its_beginning_to_its_end(service: Small, tmp_path: Path) -> None:
    workload, events = tmp_path / "w.elsinore", tmp_path / "rides.parquet"
    workload.write_text(DOCUMENT["workload"])
    pq.write_table(TABLE, events)
    lines = tmp_path / "rides.jsonl"
    lines.write_text('{"type": "Ride", "time": 1}\n{"type": \n')
    assert told(service, "submit", str(workload), "--name", "rides").stdout == "rides\n"
    assert told(service, "send", "rides", str(events)).stderr == "rides: 3 events in 1 batch\n"
    for _ in range(2):
        done = told(service, "send", "rides", str(events), str(lines), "--key", "once")
    assert done.stderr == "rides: 4 events in 2 batches, 4 of them sent before; 1 could not be read\n"
    assert sum(service.taken.values()) == 7
    written = told(service, "results", "rides").stdout.splitlines()
    assert [json.loads(line) for line in written] == ROWS
    assert "rides   running         1    1,234      5      0      0" in told(service, "jobs").stdout
    assert "rides   running" in told(service, "status").stdout
    for words in (["pause", "rides"], ["resume", "rides"], ["add", "rides", str(workload)], ["drop", "rides", "trips"]):
        assert told(service, *words).stderr == "rides: running, 1 query, 1,234 events, 5 rows\n"
    assert told(service, "remove", "rides").stderr == "rides: removed\n"
    assert service.removed


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["results", "nothing"], 2, "there is no job nothing"),
        (["send", "rides", "nowhere.parquet"], 2, "there is no file nowhere.parquet"),
        (["submit", "rides.elsinore", "--column", "speed"], 2, "as speed:float64, not 'speed'"),
        (["submit", "nowhere.elsinore"], 2, "there is no workload file nowhere.elsinore"),
        (["jobs", "--url", "localhost"], 2, "'localhost' is not the URL of a service"),
        (["jobs", "--token", "wrong"], 2, "this service requires a token"),
        pytest.param(
            ["status", "--url", "http://127.0.0.1:9"], 1, "the service did not answer", marks=pytest.mark.slow
        ),
    ],
)
def test_what_goes_wrong_is_a_line_and_a_code(service: Small, words: list[str], code: int, message: str) -> None:
    done = told(service, *words)
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_status_wants_one_of_two() -> None:
    assert CliRunner(env={"ELSINORE_URL": ""}).invoke(app, ["status"]).exit_code == 2


def test_on_a_terminal_the_table_changes_until_it_is_stopped(service: Small) -> None:
    master, terminal = os.openpty()
    command = [sys.executable, "-m", "elsinore", "status", "--url", service.url, "--token", TOKEN]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stdout=terminal, stderr=subprocess.PIPE, env=environment)
    os.close(terminal)
    shown = b""
    while shown.count(b"rides") < 2:
        shown += os.read(master, 65536)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    os.close(master)
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_board_says_how_fast_and_what_failed() -> None:
    problem = {"type": "urn:elsinore:failed", "status": 503, "detail": "the disk is full"}
    jobs = [JobStatus.of(DOCUMENT), JobStatus.of(DOCUMENT | {"id": "b", "state": "failed", "error": problem})]
    rates = Rates()
    assert rates.of(jobs, 1.0) == {}
    jobs[0].metrics.events += 500
    console = Console(width=120, record=True, file=StringIO())
    console.print(board(jobs, rates.of(jobs, 3.0)))
    lines = console.export_text().splitlines()
    assert any("rides" in line and "1,734" in line and "250" in line for line in lines)
    assert "b: the disk is full" in lines[-1]
    assert str(board([], {})) == "no jobs"


def test_a_job_without_numbers_has_a_line_too() -> None:
    job = JobStatus.of(DOCUMENT | {"metrics": {}})
    assert job.metrics == SimpleNamespace()
    console = Console(width=120, record=True, file=StringIO())
    console.print(board([job], {}))
    assert "rides" in console.export_text()
