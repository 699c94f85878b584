"""Lock a file for one process at a time; the kernel releases the lock when the process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from time import monotonic, sleep
from typing import IO

from elsinore.connectors.errors import InputError

PATIENCE_SECONDS, POLL_SECONDS = 1.0, 0.02
"""Timeout for a lock, and the pause between attempts: `holder` takes the lock of a file for a moment only."""


class HeldError(InputError):
    """Another process owns the lock; the message says which. It may release the lock, so a service retries."""


def hold(path: Path) -> IO[str]:
    """Lock a file, and return it; the lock is held while it is open. Raise HeldError after the timeout."""
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
    """Return the process that owns the lock, or None. This takes a shared lock for a moment; `hold` waits for it."""
    with path.open("a+") as file:
        return _lock(file, fcntl.LOCK_SH)


def _lock(file: IO[str], kind: int = fcntl.LOCK_EX) -> str | None:
    """Take the lock and return None, or return the name of the process that owns it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        return file.read().strip() or "another process"
    return None
