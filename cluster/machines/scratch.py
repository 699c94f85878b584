"""Make a folder for the temporary files of a session: its log, and those of the Ray that it starts.

Ray's default, /tmp/ray, can be written by every user of the machine, and a log with a predictable name in /tmp can be a
symbolic link that another user has put there. This folder has a random name, and is this user's alone.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

from elsinore.cluster.machines.file_locks import HeldError, hold

RAY_FOLDER = Path(os.environ.get("RAY_TMPDIR", "/tmp"))
"""The folder where Ray itself would put its files: the paths of its sockets have to be short."""

PREFIX, LOCK = "elsinore-run-", "elsinore-run.lock"
"""Both have to fit before a folder is swept: a user may have folders with such names."""

NEW_SECONDS = 60
"""Age below which a folder is not swept: the process that makes it may not have locked it yet."""


class Scratch:
    """A scratch folder, locked until it is closed or this process ends."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=RAY_FOLDER))
        self._held = hold(self.path / LOCK)

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def ray(self) -> Path:
        """Return the folder for Ray, which makes it writable for all users; the folder around it keeps them out."""
        return self.path / "ray"

    def close(self, keep: bool = False) -> None:
        """Delete the folder, or `keep` it for a user to read; a later session sweeps it."""
        self._held.close()
        if not keep:
            shutil.rmtree(self.path, ignore_errors=True)


def sweep() -> None:
    """Delete this user's scratch folders that no process locks any more."""
    for path in RAY_FOLDER.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_ours(path) and _is_free(path / LOCK):
                shutil.rmtree(path, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and (path / LOCK).is_file()


def _is_free(lock: Path) -> bool:
    if lock.stat().st_mtime > time() - NEW_SECONDS:
        return False
    try:
        hold(lock).close()
    except HeldError:
        return False
    return True
