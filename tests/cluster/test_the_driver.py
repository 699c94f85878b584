"""The process that runs a live stream is killed, and begun again. It has Ray and Spark of its own."""

from __future__ import annotations

import os
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


@dataclass(frozen=True)
class Started:
    """What is begun with a mark in its environment, which all have that it begins, whoever their parent is."""

    mark: str

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, MARK: self.mark, "ELSINORE_ENGINE": "ray"}

    def alive(self) -> dict[int, str]:
        """The arguments of all such processes."""
        wanted = f"{MARK}={self.mark}".encode()
        return {int(process.name): _of(process, "cmdline") for process in PROC if wanted in _of(process, "environ")}


MARK = "ELSINORE_TEST_STARTED"
def until_done(tmp_path: Path, process: subprocess.Popen[str], batches: int) -> None:
    """So many batches are done, in all eras."""
    end = monotonic() + 100
    while len({path.name for path in (tmp_path / "checkpoint").glob("eras/*/done/*")}) <= batches:
        assert process.poll() is None, process.communicate()
        assert monotonic() < end
        sleep(0.05)


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
    wait_for_the_end(before)


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, growing: Growing) -> None:
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    before = children()
    growing.more(4)
    events = [str(path) for path in sorted((tmp_path / "in").iterdir())]
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "elsinore",
        "run",
        tmp_path / "workload.elsinore",
        "--events",
        *events,
    ]
    settings = {**os.environ, "ELSINORE_ENGINE": "ray"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings) as process:
        end = monotonic() + 60
        while not any("org.apache.spark" in said for said in arguments().values()):
            assert monotonic() < end
            sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said == "stopped\n"
    wait_for_the_end(before)
