"""Processes with a Ray and a Spark of their own, and all that they begin."""

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

MARK = "ELSINORE_TEST_DRIVER"
"""In the environment of a driver, and so in that of whatever it begins, whoever becomes the parent of that."""

SECONDS = 120
"""In which a busy machine has started Ray and Spark, and done what is little."""


class Driver:
    """Python with these arguments, until the end of the `with` block; and then nothing is left of it."""

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
        """To stderr."""
        self._said.seek(0)
        return self._said.read()

    def alive(self) -> Mapping[int, str]:
        """The arguments of the driver, and of all that it began, as long as they run."""
        wanted = f"{MARK}={self.mark}".encode()
        found = {int(path.name): path for path in Path("/proc").iterdir() if path.name.isdigit()}
        # Who has ended, and has not been asked how, has no environment any more.
        return {pid: _read(path / "cmdline") for pid, path in found.items() if wanted in _raw(path / "environ")}

    def until(self, what: Callable[[], bool], seconds: float = SECONDS) -> None:
        end = monotonic() + seconds
        while not what():
            assert self.process.poll() is None, self.said()
            assert monotonic() < end, self.said()
            sleep(0.1)

    def interrupt(self, when: str) -> None:
        """As terminals and notebooks do it: all at once, as soon as there is a process with this in its arguments."""
        self.until(lambda: any(when in arguments for arguments in self.alive().values()))
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self, seconds: float = SECONDS) -> int:
        """Wait for it; its exit code."""
        return self.process.wait(seconds)

    def until_nothing_is_left(self) -> None:
        """All processes that a driver began end with it."""
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
