"""The folder of machine code, a mark in it for each process that is compiling some, and locks among processes.

Compiling takes up to a minute; by the marks a progress bar can say why it stands still.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_UN, lockf
except ImportError:  # Windows
    lockf = None  # type: ignore[assignment]

COMPILING = "compiling-"
LOCKS = "locks"


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


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Let no other process be in a block of this name. Where files cannot be locked, let them.

    A name is a byte of one file, so that nothing has to be deleted. The locks of a process end with it. Within a
    process they exclude nothing.
    """
    byte = int.from_bytes(blake2b(name.encode(), digest_size=6).digest(), "big")
    held = _lock(byte)
    try:
        yield
    finally:
        if held:
            lockf(_locks(), LOCK_UN, 1, byte)


def _lock(byte: int) -> bool:
    if lockf is None:
        return False
    try:
        lockf(_locks(), LOCK_EX, 1, byte)
    except OSError:
        return False
    return True


@cache
def _locks() -> int:
    """Return the descriptor of the file of locks. It stays open: closing any would end all locks of the process."""
    return os.open(home() / LOCKS, os.O_RDWR | os.O_CREAT, 0o666)


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
