"""Keep Spark's log of what it has read, which Spark writes to a folder of this machine without fsync.

The log is synced before a batch counts as done. For a remote checkpoint it is copied there instead, and fetched again
before Spark resumes: the next process may run on another machine.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from elsinore.cluster.stream.mending import COMPACT, Log
from elsinore.connectors.storage.safe_files import make_folder, sync
from elsinore.connectors.storage.vault import DamagedError, Vault

FOLDER_NAME = "spark"

FILES, FOLDERS = ("metadata",), ("offsets", "commits")
"""The files and folders of Spark's log, besides the folder of each source."""

SOURCES = "sources"

TEMPORARY_SUFFIXES = (".tmp", ".tmp.crc")
"""Suffixes of the temporary files of Spark."""


SYNC_THREADS = 8
"""Number of syncs in flight."""


class SparkLog:
    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._draft = None if vault.local else TemporaryDirectory(prefix="elsinore-spark-")
        self.folder = Path(self._draft.name if self._draft else f"{vault.root}/{FOLDER_NAME}")
        self._log = Log(self.folder, f"{vault.root}/{FOLDER_NAME}")
        self._copied: dict[str, int] = {}
        """Modification times, in nanoseconds, of the files whose copies are in the checkpoint."""
        self._synced: set[str] = set()
        """Paths of the files and folders that are synced."""
        if self._draft:
            self._fetch()
            self._copied = self._written()

    @property
    def stream(self) -> str:
        """Return Spark's identifier of the stream, or an empty string if it has not begun."""
        return self._log.stream

    def begin(self, done: int, stream: str) -> None:
        """Mend the log after a loss of power; `done` is Spark's number of the last batch, `stream` its identifier.

        Raise InputError where the log does not fit them.
        """
        with self._vault.written(FOLDER_NAME):
            self._synced = self._log.mend(done, stream)
            make_folder(self.folder)

    def keep(self) -> None:
        """Sync or copy what Spark has written. Spark must not be writing its log."""
        if self._draft:
            self._copy()
        else:
            with self._vault.written(FOLDER_NAME):
                self._sync()

    def _sync(self) -> None:
        """Sync new files, then the folders that contain them; in parallel, so that the disk waits only once."""
        found: set[str] = set()
        written: list[str] = []
        changed: list[str] = []
        for folder, folders, files in os.walk(self.folder):
            names = {f"{folder}/{name}" for name in (*folders, *files) if not name.endswith(TEMPORARY_SUFFIXES)}
            new = names - self._synced
            written += new.difference(f"{folder}/{name}" for name in folders)
            if new:
                changed.append(folder)
            found |= names
        with ThreadPoolExecutor(SYNC_THREADS) as pool:
            list(pool.map(_sync, written))
            list(pool.map(_sync, changed))
        self._synced = found

    def _copy(self) -> None:
        written = self._written()
        for name in sorted((name for name, when in written.items() if self._copied.get(name) != when), key=_order):
            self._vault.put(f"{FOLDER_NAME}/{name}", (self.folder / name).read_bytes())
        for name in self._copied.keys() - written.keys():
            self._vault.remove(f"{FOLDER_NAME}/{name}")
        self._copied = written

    def _fetch(self) -> None:
        """Copy the log from the checkpoint. Skip damaged files: they count as missing when the log is mended."""
        sources = [f"{SOURCES}/{name}" for name in self._vault.names(f"{FOLDER_NAME}/{SOURCES}")]
        found = [
            f"{folder}/{name}"
            for folder in (*FOLDERS, *sources)
            for name in self._vault.names(f"{FOLDER_NAME}/{folder}")
        ]
        top = self._vault.names(FOLDER_NAME)
        for name in (*(name for name in FILES if name in top), *found):
            with suppress(DamagedError):
                content = self._vault.get(f"{FOLDER_NAME}/{name}")
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def _written(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for path in self.folder.rglob("*"):
            # Temporary files and checksums are hidden, and Spark may delete old files meanwhile.
            with suppress(FileNotFoundError):
                if path.is_file() and not path.name.startswith("."):
                    found[str(path.relative_to(self.folder))] = path.stat().st_mtime_ns
        return found

    def close(self) -> None:
        if self._draft:
            self._draft.cleanup()


def _sync(path: str) -> None:
    # Spark may delete old files meanwhile.
    with suppress(FileNotFoundError):
        sync(Path(path))


def _order(name: str) -> tuple[bool, int, str]:
    """Return the sort key of Spark's order: a file follows all that it refers to, a commit the offsets of its batch.

    So Spark can resume from the copies, whichever were made before a crash.
    """
    folder, _, last = name.rpartition("/")
    number = last.removesuffix(COMPACT)
    return folder in FOLDERS, int(number) if number.isdigit() else -1, name.replace("commits/", "~commits/")
