"""Driver processes with a Ray and a Spark of their own, and their descendants."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any

import pytest

from elsinore.cluster.machines import session
from tests.cluster.streaming import answered

MARK = "ELSINORE_TEST_DRIVER"
"""Environment variable that marks a driver and all processes that descend from it, even after reparenting."""

SECONDS = 120
"""Time in which a busy machine can start Ray and Spark, and do a small task."""


class Driver:
    """A Python process with these arguments; the end of the `with` block kills it and all its descendants."""

    def __init__(self, *arguments: str | Path, **settings: str) -> None:
        self.mark = uuid.uuid4().hex
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the block
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            env={**os.environ, "ELSINORE_ENGINE": "ray", **settings, MARK: self.mark},
            process_group=0,
        )

    def said(self) -> str:
        """Return the driver's stderr so far."""
        self._said.seek(0)
        return self._said.read()

    def alive(self) -> Mapping[int, str]:
        """Return the command lines of the driver and its descendants that are running, by process id."""
        wanted = f"{MARK}={self.mark}".encode()
        found = {int(path.name): path for path in Path("/proc").iterdir() if path.name.isdigit()}
        # A zombie process has no environment.
        return {pid: _read(path / "cmdline") for pid, path in found.items() if wanted in _raw(path / "environ")}

    def until(self, what: Callable[[], bool], seconds: float = SECONDS) -> None:
        end = monotonic() + seconds
        while not what():
            assert self.process.poll() is None, self.said()
            assert monotonic() < end, self.said()
            sleep(0.1)

    def interrupt(self, when: str) -> None:
        """Send SIGINT to the process group, like a terminal, once a process has `when` in its command line."""
        self.until(lambda: any(when in arguments for arguments in self.alive().values()))
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self, seconds: float = SECONDS) -> int:
        """Wait for the driver to end, and return its exit code."""
        return self.process.wait(seconds)

    def until_nothing_is_left(self) -> None:
        """Wait until all descendants of the driver have ended."""
        end = monotonic() + SECONDS
        while left := self.alive():
            assert monotonic() < end, left
            sleep(0.2)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._said.close()


def _raw(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _read(path: Path) -> str:
    return _raw(path).replace(b"\0", b" ").decode(errors="replace")


@pytest.fixture(autouse=True, scope="module")
def alone() -> None:
    """Close the shared session, because two Rays at a time are too much for a small machine."""
    current_session = session.current()
    if current_session is not None:
        current_session.close()


def stream(tmp_path: Path, *python: str, **settings: str) -> Driver:
    command: list[str | Path] = ["stream", tmp_path / "workload.elsinore", "--source", tmp_path / "in"]
    command += ["--checkpoint", tmp_path / "checkpoint", "--out", tmp_path / "rows.jsonl"]
    return Driver(*(python or ("-m", "elsinore")), *command, **settings)


def until_done(tmp_path: Path, driver: Driver, batches: int) -> None:
    """Wait until more than `batches` batches are done, counted over all eras."""
    driver.until(lambda: len({path.name for path in (tmp_path / "checkpoint").glob("eras/*/done/*")}) > batches)


def until_answered(tmp_path: Path, driver: Driver, expected: Any) -> None:
    driver.until(lambda: answered(tmp_path / "rows.jsonl") == expected)
