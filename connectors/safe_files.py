"""Files that are there as a whole or not at all, survive the loss of power, and are this user's alone."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def put_bytes(path: Path, content: bytes, safe: bool = True) -> None:
    """Under another name first, which it loses when all of it is written; `safe`: on the disk."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(draft, content, safe)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    if safe:
        sync(path.parent)


def write(path: Path, content: bytes, safe: bool = True) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        if safe:
            file.flush()
            os.fsync(file.fileno())


def make_folder(folder: Path) -> None:
    """Make a folder that only this user enters; one that is there keeps its mode, which a user may have chosen."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def sync(folder: Path) -> None:
    """What came into it, or lost its name there."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
