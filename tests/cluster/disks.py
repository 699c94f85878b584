"""Small and full disks for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PIECE = 4096


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a small disk over a folder while the block runs."""
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", folder], check=False).returncode:
        pytest.skip("a small disk can be had by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    filler = disk / ".filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(PIECE))
    try:
        yield
    finally:
        filler.unlink()
