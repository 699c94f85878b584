"""Where machine code is kept, and who on this machine is making some at the moment: that takes up to a minute, and
whoever waits should be told."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

COMPILING = "compiling-"


@cache
def home() -> Path:
    """Where nothing can be written, kernels last as long as the process."""
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
    """Is any process at it? One that was killed left its file behind."""
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
