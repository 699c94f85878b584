"""The process that runs a live stream is killed, and begun again. It has Ray and Spark of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from cluster import session
from tests.cluster.streaming import Growing, answered
from tests.cluster.test_live import expected, growing, rides
from tests.cluster.test_ray_run import WORKLOAD

__all__ = ["expected", "growing", "rides"]


@pytest.fixture(autouse=True, scope="module")
def alone() -> None:
    """Two Rays at a time are too much for a small machine."""
    begun = session.current()
    if begun is not None:
        begun.close()


@contextmanager
def driver(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "elsinore",
        "stream",
        tmp_path / "workload.elsinore",
        "--source",
        tmp_path / "in",
    ]
    command += ["--checkpoint", tmp_path / "checkpoint", "--out", tmp_path / "rows.jsonl"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until_done(tmp_path: Path, process: subprocess.Popen[str], batches: int) -> None:
    """So many batches are done, in all eras."""
    end = monotonic() + 100
    while len({path.name for path in (tmp_path / "checkpoint").glob("eras/*/done/*")}) <= batches:
        assert process.poll() is None, process.communicate()
        assert monotonic() < end
        sleep(0.05)


def children() -> set[int]:
    """Processes of Ray and Spark."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    wanted = ("raylet", "gcs_server", "ray::", "org.apache.spark", "io.ray")
    return {int(line.split()[0]) for line in listed.splitlines() if any(word in line for word in wanted)}


def test_killed_and_begun_again(tmp_path: Path, growing: Growing, expected: Any) -> None:
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    before = children()
    growing.more(4)
    with driver(tmp_path) as process:
        until_done(tmp_path, process, 1)
        growing.more(3)
        sleep(0.4)
        process.kill()
    growing.end()
    with driver(tmp_path) as process:
        end = monotonic() + 100
        while answered(tmp_path / "rows.jsonl") != expected:
            assert process.poll() is None, process.communicate()
            assert monotonic() < end
            sleep(0.2)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "Stopped; it goes on from here" in said
    assert answered(tmp_path / "rows.jsonl") == expected
    end = monotonic()
    while children() - before:
        assert monotonic() < end + 40, children() - before
        sleep(0.2)
