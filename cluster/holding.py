"""What one process at a time may be at work on: the kernel lets go of it with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO


class HeldError(Exception):
    """Somebody else has it; the message says who."""


def hold(path: Path) -> IO[str]:
    """For as long as what is returned is open."""
    file = path.open("a+")
    other = _lock(file)
    if other is not None:
        file.close()
        raise HeldError(other)
    file.truncate(0)
    file.write(f"process {os.getpid()}")
    file.flush()
    return file


def holder(path: Path) -> str | None:
    """Who has it; nobody is disturbed."""
    with path.open("a+") as file:
        return _lock(file)


def _lock(file: IO[str]) -> str | None:
    """Who has this lock, if somebody has; or else the caller has it now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        return file.read().strip() or "another process"
    return None
