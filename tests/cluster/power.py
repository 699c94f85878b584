"""Simulation of a loss of power: a file that was not synced may be whole, empty or missing afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

WHOLE, EMPTY, MISSING = "whole", "empty", "missing"

Choice = Callable[[str], str]
"""Returns the state in which the loss leaves an unsynced file, by its path below the folder."""


@dataclass
class Disk:
    """The synced files and folders below a watched folder; all that existed at the start count as synced."""

    folder: Path
    contents: dict[int, bytes] = field(default_factory=dict)
    """Synced contents of files, by inode."""
    names: dict[int, dict[str, int]] = field(default_factory=dict)
    """Synced entries of folders, by inode: the name and inode of each entry."""

    def note(self, path: Path) -> None:
        """Record that a file or folder was synced."""
        if path.is_dir():
            self.names[path.stat().st_ino] = {one.name: one.stat().st_ino for one in path.iterdir()}
        else:
            self.contents[path.stat().st_ino] = path.read_bytes()

    def note_all(self) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            self.note(path)

    def unsynced(self) -> list[str]:
        """Return the paths of files that a loss of power may change or remove."""
        return [str(path.relative_to(self.folder)) for path in self._files(self.folder) if not self._is_safe(path)]

    def left(self, to: Path, choose: Choice) -> None:
        """Copy the state after a loss of power to a folder; `choose` gives the fate of each unsynced file."""
        for path in self._files(self.folder):
            name = str(path.relative_to(self.folder))
            state = WHOLE if self._is_safe(path) else choose(name)
            if state != MISSING:
                (to / name).parent.mkdir(parents=True, exist_ok=True)
                (to / name).write_bytes(path.read_bytes() if state == WHOLE else b"")
                times = path.stat()
                os.utime(to / name, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _files(self, folder: Path) -> Iterator[Path]:
        return (path for path in sorted(folder.rglob("*")) if path.is_file())

    def _is_safe(self, path: Path) -> bool:
        """Return whether the content of a file is synced, and its name, and the names of all its parent folders."""
        if self.contents.get(path.stat().st_ino) != path.read_bytes():
            return False
        inner = [path, *(one for one in path.parents if self.folder in one.parents)]
        return all(self.names.get(one.parent.stat().st_ino, {}).get(one.name) == one.stat().st_ino for one in inner)


@contextmanager
def watched(folder: Path) -> Iterator[Disk]:
    """Record each fsync of this process below a folder while the block runs."""
    disk, fsync = Disk(folder.resolve()), os.fsync
    disk.note_all()

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        if path == disk.folder or disk.folder in path.parents:
            disk.note(path)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", noted)
        yield disk


def empty_image(path: Path) -> None:
    """Create a file system in a file; a copy of this file is the state after a loss of power."""
    with path.open("wb") as file:
        file.truncate(64 << 20)
    if shutil.which("mkfs.ext4") is None or subprocess.run(["mkfs.ext4", "-q", path], check=False).returncode:
        pytest.skip("there is no mkfs.ext4 here")


@contextmanager
def mounted(image: Path, at: Path) -> Iterator[None]:
    at.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-o", "loop", image, at], check=False, capture_output=True).returncode:
        pytest.skip("an image of a disk can be mounted by root alone, where there are loop devices")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", at], check=True)
