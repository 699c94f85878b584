"""Files that are written completely or not at all, survive a loss of power, and belong to this user alone."""

from __future__ import annotations

import os
import uuid
from errno import EACCES, EINVAL, ENOSYS, ENOTSUP, EPERM
from pathlib import Path

Piece = bytes | memoryview
"""A part of the content of a file."""

NOT_SYNCED = (EACCES, EINVAL, ENOSYS, ENOTSUP)
"""Errors when a folder cannot be synced: the file system has no such call, or the process may not read the folder."""

NO_LINKS = (EPERM, ENOSYS, ENOTSUP)
"""Errors when a file cannot get a second name: the file system has no hard links."""


def put_bytes(path: Path, *pieces: Piece, safe: bool = True) -> None:
    """Write a file under a temporary name, and rename it when it is complete; `safe` syncs it to the disk."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(draft, *pieces, safe=safe)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    if safe:
        sync(path.parent)


def write(path: Path, *pieces: Piece, safe: bool = True) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.writelines(pieces)
        if safe:
            file.flush()
            os.fsync(file.fileno())


def put_new(path: Path, content: bytes) -> bool:
    """Create a file that does not exist yet, and return whether that succeeded."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(draft, content)
        try:
            os.link(draft, path)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    sync(path.parent)
    return True


def make_folder(folder: Path, mode: int = 0o700) -> None:
    """Create a folder with its parents, and sync each new one into the folder above it.

    Only this user may enter it, unless `mode` says otherwise. A folder that exists keeps its mode, which a user may
    have chosen.
    """
    if folder.is_dir():
        return
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(new):
        one.mkdir(mode, exist_ok=True)
        sync(one.parent)


def sync(path: Path) -> None:
    """Write to the disk the content of a file, or the names that a folder has gained and lost."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in NOT_SYNCED or not path.is_dir():
            raise
