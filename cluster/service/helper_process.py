"""Answer requests in a separate process that can be killed, because some would take forever or all memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

READY = "ready"


class OverrunError(Exception):
    """The end of a process that took too much time or memory for a request."""


class HelperProcess:
    """A process that runs a module: it starts with the first request, and ends with this process."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def ask(self, request: Any, seconds: float) -> Any:
        """Return the answer to a request; raise OverrunError if there is none in time."""
        with self._lock:
            line = self._started()
            try:
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
            self._process = subprocess.Popen(command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL)
            there.close()
            self._line = here
            here.recv()
        return self._line

    def _end(self) -> None:
        if self._process is not None and self._line is not None:
            self._process.kill()
            self._process.wait()
            self._line.close()
        self._process = self._line = None


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
