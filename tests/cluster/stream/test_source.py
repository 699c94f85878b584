"""Live streams read files on the real Spark: none is skipped, none is read twice, and none is set aside
without need."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import elsinore
from elsinore.cluster.stream import live, reading
from elsinore.connectors.spark.handover import SparkBlocks
from tests.cluster.live_rides import begin
from tests.cluster.live_rides import until as until_within
from tests.cluster.streaming import answered

pytestmark = pytest.mark.usefixtures("running")

WORKLOAD = "RETURN COUNT(*) PATTERN A+ WITHIN 10 seconds SLIDE 10 seconds"

DAY = 86400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def until(stream: elsinore.LiveStream, what: Callable[[], bool]) -> None:
    until_within(stream, what, seconds=200)


def taken(stream: elsinore.LiveStream, events: int) -> None:
    until(stream, lambda: stream.metrics.events >= events)


def put(folder: Path, number: int, when: float | None = None, name: str = "") -> Path:
    """Write a file with one event; `when` is its modification time, if not now."""
    draft, path = folder / f".{number}", folder / f"{name or f'{number:04}'}.jsonl"
    draft.write_text(json.dumps({"type": "A", "time": number}) + "\n")
    if when is not None:
        os.utime(draft, (when, when))
    draft.rename(path)
    return path


def put_parquet(folder: Path, name: str, **columns: Any) -> Path:
    draft = folder / f".{name}"
    pq.write_table(pa.table({"type": ["A"], "time": [1], "x": [0.5], **columns}), draft)
    return draft.rename(folder / name)


def test_no_file_is_passed_over_for_its_time_and_none_is_read_twice(tmp_path: Path, folder: Path) -> None:
    now = time()
    times = [now, now + 8 * DAY, now, now - 8 * DAY, 0, -DAY, now + 10**10, None, now - 30 * DAY]
    with begin(tmp_path, WORKLOAD, lateness=1000) as stream:
        for number, when in enumerate(times):
            put(folder, number, when)
            if number % 2:
                taken(stream, number + 1)
        taken(stream, len(times))
    put(folder, 10, now - 9 * DAY)
    put(folder, 11, -DAY)
    for path in sorted(folder.iterdir())[:-2:3]:
        os.utime(path)
    with begin(tmp_path, WORKLOAD, lateness=1000) as stream:
        taken(stream, len(times) + 2)
        for path in sorted(folder.iterdir())[::4]:
            os.utime(path, (now + 10**10, now + 10**10))
        put(folder, 12, now - 400 * DAY)
        taken(stream, len(times) + 3)
        put(folder, 13, now)
        taken(stream, len(times) + 4)
    assert (stream.metrics.events, stream.metrics.late, stream.metrics.dead) == (len(times) + 4, 0, 0)


def test_a_stream_goes_on_with_the_first_file_that_can_be_read(tmp_path: Path, folder: Path) -> None:
    with begin(tmp_path, WORKLOAD) as stream:
        assert stream.state == "waiting"
        (folder / "0-empty.jsonl").touch()
        (folder / "1-header.csv").write_text("type,time\n")
        (folder / "2-torn.parquet").write_bytes(b"PAR1 and no more")
        (folder / "3-garbage.jsonl").write_bytes(b"\x1f\x8b\x00\xff" * 10)
        until(stream, lambda: stream.metrics.set_aside == 1)
        assert stream.state == "waiting"
        put(folder, 4)
        taken(stream, 2)
        assert "waits" not in repr(stream)
    # The line of garbage is a dead letter, as in any other file.
    assert (stream.metrics.events, stream.metrics.dead, stream.metrics.set_aside) == (2, 1, 1)
    assert [path.name for path in (tmp_path / "checkpoint" / "set-aside").iterdir()] == ["2-torn.parquet"]


def test_a_stream_whose_folder_is_empty_by_now_writes_the_rows_that_it_owes(tmp_path: Path, folder: Path) -> None:
    def failing(rows: pa.Table, batch: int) -> None:
        raise OSError("no such luck")

    for number in (0, 1, 100):
        put(folder, number)
    with pytest.raises(elsinore.FailedError, match="no such luck"):
        begin(tmp_path, WORKLOAD, sink=failing).wait(200)
    for path in folder.iterdir():
        path.unlink()
    with begin(tmp_path, WORKLOAD) as stream:
        assert stream.state == "waiting"
        assert [dict(row)["COUNT(*)"] for row in answered(tmp_path / "rows.jsonl")] == [3]
        put(folder, 101)
        put(folder, 200)
        taken(stream, 5)
    assert sorted(dict(row)["COUNT(*)"] for row in answered(tmp_path / "rows.jsonl")) == [3, 3]


def test_files_that_spark_does_not_name_are_set_aside(tmp_path: Path, folder: Path) -> None:
    def put_footer(name: str) -> None:
        whole = put_parquet(folder, f".{name}").read_bytes()
        (folder / f".{name}").write_bytes(whole[:-8] + b"\xff\xff\xff\x3f" + whole[-4:])
        (folder / f".{name}").rename(folder / name)

    bad: list[tuple[str, Callable[[str], object]]] = [
        ("1.parquet", put_footer),
        ("2.parquet", lambda name: put_parquet(folder, name, x=[[0.5]])),
        ("3.parquet", lambda name: put_parquet(folder, name, x=[{"y": 1}])),
        ("4.parquet", lambda name: put_parquet(folder, name, time=["1"])),
    ]
    put_parquet(folder, "0.parquet")
    with begin(tmp_path, "RETURN SUM(A.x) PATTERN A+ WITHIN 10 seconds SLIDE 10 seconds") as stream:
        taken(stream, 1)
        for number, (name, put_bad) in enumerate(bad, start=1):
            put_bad(name)
            put_parquet(folder, f"{number}-good.parquet")
            taken(stream, number + 1)
        until(stream, lambda: stream.metrics.set_aside == len(bad))
    aside = tmp_path / "checkpoint" / "set-aside"
    assert sorted(path.name for path in aside.iterdir()) == [name for name, _ in bad]
    assert (stream.metrics.events, stream.metrics.dead) == (len(bad) + 1, 0)


class Unlucky:
    """A replacement for `SparkBlocks` whose first `times` reads fail in Spark."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.real = SparkBlocks

    def __call__(self, dealt: Any) -> Any:
        if self.left:
            self.left -= 1
            # Java raises the same exception for a file without permission as for a missing one.
            dealt.sparkSession.sparkContext._jvm.java.io.FileInputStream("/proc/self/mem/0000.jsonl")
        return self.real(dealt)


def test_what_may_pass_is_tried_again(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(live, "SparkBlocks", Unlucky(reading.MAX_TRIES - 1))
    put(folder, 0)
    with begin(tmp_path, WORKLOAD) as stream:
        taken(stream, 1)
    assert (stream.metrics.events, stream.metrics.set_aside) == (1, 0)
    assert [path.name for path in folder.iterdir()] == ["0000.jsonl"]


def test_what_does_not_pass_ends_the_stream_and_loses_nothing(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, 0)
    with monkeypatch.context() as patched:
        patched.setattr(reading, "PAUSE_SECONDS", 0.01)
        patched.setattr(live, "SparkBlocks", Unlucky(99))
        stream = begin(tmp_path, WORKLOAD)
        with pytest.raises(
            elsinore.FailedError, match=r"Spark cannot read a batch: java\.io\.FileNotFoundException.*5 attempts"
        ):
            stream.wait(200)
        assert stream.state == "failed"
    with begin(tmp_path, WORKLOAD) as stream:
        taken(stream, 1)
    assert (stream.metrics.events, stream.metrics.set_aside) == (1, 0)


COMMAND = [sys.executable, "-m", "elsinore", "stream"]

WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Command prefix that drops root's right to read any file."""


@pytest.mark.long
def test_a_file_that_may_not_be_read_is_not_taken_for_read(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "w").write_text(WORKLOAD)
    put(folder, 0)
    denied = put(folder, 1)
    denied.chmod(0)
    arguments = [str(tmp_path / "w"), "-s", str(folder), "-o", str(tmp_path / "rows.jsonl"), "-c", str(tmp_path / "c")]
    done = subprocess.run(
        [*WITHOUT_RIGHTS, *COMMAND, *arguments], capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 1
    assert f"{denied} cannot be read" in done.stderr
    assert "Permission denied" in done.stderr
    assert "Traceback" not in done.stderr
    assert denied.exists()


@pytest.mark.long
def test_the_command_says_that_it_waits_and_ends_with_ctrl_c(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "w").write_text(WORKLOAD)
    arguments = [str(tmp_path / "w"), "-s", str(folder), "-o", str(tmp_path / "rows.jsonl"), "-c", str(tmp_path / "c")]
    with subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"waiting for the first file in {folder}\n"
        started_at = monotonic()
        process.send_signal(signal.SIGINT)
        assert "0 events, 0 rows" in process.stderr.read()
        assert process.wait(60) == 0
    assert monotonic() - started_at < 60
