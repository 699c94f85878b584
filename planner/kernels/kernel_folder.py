"""The folder of machine code, and a mark in it for each process that is compiling some.

Compiling takes up to a minute; by the marks a progress bar can say why it stands still.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

COMPILING = "compiling-"


@cache
def home() -> Path:
    """Return the folder of machine code; where none can be written, a temporary one of this process."""
    users = Path(os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = users / "elsinore" / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="elsinore-kernels-"))
    return folder


def begin_compiling() -> None:
    _own().touch()


def end_compiling() -> None:
    _own().unlink(missing_ok=True)


def compiling() -> bool:
    """Return whether any process is compiling. A file without its process was left behind by one that was killed."""
    return any(_lives(int(path.name.removeprefix(COMPILING))) for path in home().glob(f"{COMPILING}*"))


def _own() -> Path:
    return home() / f"{COMPILING}{os.getpid()}"


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
