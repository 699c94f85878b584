"""Plan workloads in a separate process that can be killed: planning a short pattern may take forever."""

from __future__ import annotations

import resource
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Lock

from elsinore.connectors.errors import InputError
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.planning import plan

MAX_MEMORY_BYTES = 4 << 30
"""The most bytes of memory that the process may use."""


class Planner:
    """The process that plans: it starts with the first call, and ends with this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def check(self, text: str, strategy: str, seconds: float) -> None:
        """Plan a workload; raise its errors, or InputError where planning takes too much time or memory."""
        with self._lock:
            line = self._started()
            found: Exception | None = _too_large(seconds)
            try:
                line.send((text, strategy))
                if line.poll(seconds):
                    found = line.recv()
                else:
                    self._end()
            except (EOFError, OSError):
                self._end()
        if found is not None:
            raise found

    def _started(self) -> Connection:
        if self._line is None or self._process is None or self._process.poll() is not None:
            here, there = Pipe()
            command = [sys.executable, "-m", "elsinore.cluster.service.planning", str(there.fileno())]
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


def _too_large(seconds: float) -> InputError:
    return InputError(
        f"planning this workload takes more than {seconds:g} seconds or {MAX_MEMORY_BYTES >> 30} GiB; "
        "use fewer queries, or patterns with fewer parts under AND and in repetitions"
    )


def _answer(line: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    line.send("ready")
    while True:
        try:
            text, strategy = line.recv()
        except EOFError:
            return
        line.send(_outcome(text, strategy))


def _outcome(text: str, strategy: str) -> Exception | None:
    try:
        plan(check_text(text), strategy)
    except (WorkloadError, InputError) as error:
        return error
    return None


PLANNER = Planner()

if __name__ == "__main__":
    _answer(Connection(int(sys.argv[1])))
