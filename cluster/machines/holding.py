"""What one process at a time may be at work on: the kernel lets go of it with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from time import monotonic, sleep
from typing import IO

from elsinore.connectors.errors import InputError

PATIENCE_SECONDS, POLL_SECONDS = 1.0, 0.02
"""How long to try for a lock that another process may have for a moment only, to see whether anybody else has it."""


class HeldError(InputError):
    """Another process has the lock; the message says which. It may let go of it, so a service tries again."""


def hold(path: Path) -> IO[str]:
    """For as long as what is returned is open."""
    file = path.open("a+")
    end = monotonic() + PATIENCE_SECONDS
    while (other := _lock(file)) is not None:
        if monotonic() > end:
            file.close()
            raise HeldError(other)
        sleep(POLL_SECONDS)
    file.truncate(0)
    file.write(f"process {os.getpid()}")
    file.flush()
    return file


def holder(path: Path) -> str | None:
    """Return the process that has the lock. To find out, this takes a lock for a moment, which `hold` waits for."""
    with path.open("a+") as file:
        return _lock(file, fcntl.LOCK_SH)


def _lock(file: IO[str], kind: int = fcntl.LOCK_EX) -> str | None:
    """Who has this lock, if somebody has; or else the caller has it now."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        return file.read().strip() or "another process"
    return None
