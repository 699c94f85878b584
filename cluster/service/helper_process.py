"""Answer requests in a separate process that can be killed, because some would take forever or all memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

READY = "ready"

START_SECONDS = 60.0
"""Seconds within which a process has to be ready for its first request."""


class OverrunError(Exception):
    """The end of a process that took too much time or memory for a request."""


class HelperProcess:
    """A process that runs a module: it starts with the first request, and ends with this process."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self._folder: TemporaryDirectory[str] | None = None
        """The folder for the temporary files of the process, which deletes none of them when it is killed."""

    def ask(self, request: Any, seconds: float) -> Any:
        """Return the answer to a request; raise OverrunError if there is none in time."""
        with self._lock:
            try:
                line = self._started()
                line.send(request)
                if line.poll(seconds):
                    return line.recv()
            except (EOFError, OSError):
                pass
            self._end()
        raise OverrunError

    def _started(self) -> Connection:
        if self._line is None or self._process is None or self._process.poll() is not None:
            self._end()
            here, there = Pipe()
            command = [sys.executable, "-m", self._module, str(there.fileno())]
            self._line, self._folder = here, TemporaryDirectory(prefix="elsinore-helper-")
            environment = {**os.environ, "TMPDIR": self._folder.name}
            self._process = subprocess.Popen(
                command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, env=environment
            )
            there.close()
            if not here.poll(START_SECONDS):
                raise EOFError
            here.recv()
        return self._line

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._line is not None:
            self._line.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._process = self._line = self._folder = None


def answer_requests(answer: Callable[[Any], Any], memory: int, idle_seconds: float | None = None) -> None:
    """Answer requests in the helper process, until the other end is closed or no request comes for `idle_seconds`."""
    line = Connection(int(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    line.send(READY)
    while line.poll(idle_seconds):
        try:
            request = line.recv()
        except EOFError:
            return
        line.send(answer(request))
