from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import elsinore
from elsinore.cli import app
from tests.support.one_workload import EVENTS, ROWS, WORKLOAD

ELSINORE = Path(sys.executable).with_name("elsinore")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rides.elsinore").write_text(WORKLOAD)
    Path("events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": f"{ELSINORE.parent}{os.pathsep}{os.environ['PATH']}"}
    command = f"set -o pipefail; {command}"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_version() -> None:
    assert call("--version").stdout == f"elsinore {elsinore.__version__}\n"


def test_check(folder: Path) -> None:
    done = call("check", "rides.elsinore")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "rides.elsinore: 1 query, nothing wrong\n", "")


def test_a_bad_workload_is_no_traceback(folder: Path) -> None:
    Path("bad.elsinore").write_text(WORKLOAD.replace("Travel T+", "Travel Y+"))
    for command in (["check"], ["explain"], ["run", "--events", "events.jsonl"]):
        done = call(command[0], "bad.elsinore", *command[1:])
        assert done.exit_code == 2
        assert done.stdout == ""
        assert "SUM(T.speed)" in done.stderr
        assert "Traceback" not in done.stderr


def test_explain(folder: Path) -> None:
    assert call("explain", "rides.elsinore").stdout == elsinore.explain(WORKLOAD) + "\n"


def test_rows_are_json_lines_and_the_rest_is_on_stderr(folder: Path) -> None:
    done = call("run", "rides.elsinore", "--events", "events.jsonl")
    assert [json.loads(line) for line in done.stdout.splitlines()] == ROWS
    assert done.stderr.startswith("6 events, 1 rows, 0 late, 0 dead, 1 dropped; ")


def test_a_huge_number_is_a_number_in_json(folder: Path) -> None:
    Path("many.jsonl").write_text("".join(json.dumps({"type": "A", "time": time}) + "\n" for time in range(600)))
    Path("many.elsinore").write_text(
        "RETURN COUNT(*) PATTERN A+ WITHIN 10 seconds SLIDE 10 seconds; "
        "RETURN COUNT(*) PATTERN A+ WITHIN 600 seconds SLIDE 600 seconds"
    )
    lines = call("run", "many.elsinore", "--events", "many.jsonl").stdout.splitlines()
    assert [json.loads(line)["COUNT(*)"] for line in lines] == [2**10 - 1] * 60 + [2**600 - 1]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet"])
def test_rows_into_a_file(folder: Path, name: str) -> None:
    done = call("run", "rides.elsinore", "--events", "events.jsonl", "--out", name)
    assert (done.exit_code, done.stdout) == (0, "")
    if name.endswith(".parquet"):
        assert pq.read_table(name).to_pylist() == ROWS
    else:
        assert "west" in Path(name).read_text()


def test_several_files(folder: Path) -> None:
    Path("more.jsonl").write_text('{"type": "Cancel", "time": 12, "district": "west"}\n')
    for files in (["--events", "events.jsonl", "more.jsonl"], ["--events", "events.jsonl", "--events", "more.jsonl"]):
        assert call("run", "rides.elsinore", *files).stderr.startswith("7 events")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.elsinore", "--events", "events.jsonl"], "there is no workload file none.elsinore"),
        (["run", "rides.elsinore", "--events", "none.jsonl"], "none.jsonl"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--out", "rows.doc"], "rows.doc"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--out", "none/rows.csv"], "none"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--strategy", "fast"], "there is no strategy 'fast'"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--lateness", "-1"], "lateness must be a number"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--time-unit", "year"], "time_unit is 'year'"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--type-column", "kind"], "'kind'"),
        (["run", "rides.elsinore", "--events", "events.jsonl", "--engine", "spark"], "spark"),
        (["run", "rides.elsinore"], "--events"),
    ],
)
def test_bad_input_is_said_in_a_line_or_two(folder: Path, arguments: list[str], message: str) -> None:
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_events(folder: Path) -> None:
    with Path("events.jsonl").open("a") as file:
        file.write("{nonsense\n")
    done = call("run", "rides.elsinore", "--events", "events.jsonl", "--dead-letters", "dead.jsonl")
    assert done.exit_code == 0
    assert ", 1 dead, " in done.stderr
    assert "--dead-letters" in done.stderr
    assert "nonsense" in Path("dead.jsonl").read_text()
    assert call("run", "rides.elsinore", "--events", "events.jsonl", "--strict").exit_code == 2


def test_late_events_are_hinted_at(folder: Path) -> None:
    Path("early.jsonl").write_text('{"type": "Request", "time": 100, "district": "west"}\n')
    late = call("run", "rides.elsinore", "--events", "early.jsonl", "--events", "events.jsonl")
    assert ", 6 late, " in late.stderr
    assert "--lateness" in late.stderr
    waited = call("run", "rides.elsinore", "--events", "early.jsonl", "--events", "events.jsonl", "--lateness", "100")
    assert ", 0 late, " in waited.stderr
    assert "--lateness" not in waited.stderr


def test_a_pipe_that_closes_early_is_quiet(folder: Path) -> None:
    events = [{"type": kind, "time": time} for time in range(0, 60_000, 10) for kind in ("A", "B")]
    Path("many.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    Path("many.elsinore").write_text("RETURN COUNT(*) PATTERN A | B WITHIN 10 seconds SLIDE 10 seconds")
    done = shell("elsinore run many.elsinore --events many.jsonl | head -n 1", folder)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert "Error" not in done.stderr


def test_the_progress_bar_stays_out_of_pipes(folder: Path) -> None:
    done = shell("elsinore run rides.elsinore --events events.jsonl", folder)
    assert "\x1b" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_the_progress_bar_on_a_terminal_leaves_stdout_alone(folder: Path) -> None:
    ours, terminal = pty.openpty()
    command = [str(ELSINORE), "run", "rides.elsinore", "--events", "events.jsonl"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=terminal, text=True, check=True)
    os.close(terminal)
    output = os.read(ours, 100_000).decode()
    os.close(ours)
    assert [json.loads(line) for line in done.stdout.splitlines()] == ROWS
    assert "━" in output
    assert "6 events, 1 rows" in output


def test_ctrl_c_ends_with_one_line_and_leaves_no_file(folder: Path) -> None:
    command = [str(ELSINORE), "generate", "ridesharing", "--events", "1000000000", "--out", "rides.jsonl"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    while not any(path.stat().st_size for path in folder.glob(".rides.jsonl.*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=10)
    assert process.returncode == 130
    assert output == "stopped\n"
    assert not list(folder.glob("*rides.jsonl*"))


def test_generate(folder: Path) -> None:
    for seed in ("1", "1", "2"):
        done = call("generate", "ridesharing", "--events", "1000", "--seed", seed, "--out", f"rides{seed}.csv")
        assert done.exit_code == 0, done.stderr
    assert Path("rides1.csv").read_text() != Path("rides2.csv").read_text()
    assert len(Path("rides1.csv").read_text().splitlines()) == 1001


def test_the_engine_and_its_reason_are_said(folder: Path) -> None:
    done = call("run", "rides.elsinore", "--events", "events.jsonl", "--engine", "auto")
    assert done.stderr.endswith("Ran in this process: there are at most 10,000,000 events.\n")
