"""How far Spark has read: it writes that into a folder of this machine, in a way of its own.

Where a checkpoint is elsewhere, copies go there before a batch counts, and come back before Spark reads on: whoever
goes on with the stream may be on another machine.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from connectors.vault import Vault

NAME = "spark"

FILES, FOLDERS = ("metadata",), ("offsets", "commits", "sources/0")
"""What Spark writes about a stream of one source."""


class SparkLog:
    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._draft = None if vault.local else TemporaryDirectory(prefix="elsinore-spark-")
        self.folder = Path(self._draft.name if self._draft else f"{vault.root}/{NAME}")
        self._copied: dict[str, int] = {}
        """When the files were written that are in the checkpoint."""
        if self._draft:
            self._fetch()
            self._copied = self._written()

    def keep(self) -> None:
        """After this the checkpoint has what is written here."""
        if not self._draft:
            return
        written = self._written()
        for name in sorted(name for name, when in written.items() if self._copied.get(name) != when):
            self._vault.put(f"{NAME}/{name}", (self.folder / name).read_bytes())
        for name in self._copied.keys() - written.keys():
            self._vault.remove(f"{NAME}/{name}")
        self._copied = written

    def _fetch(self) -> None:
        found = [f"{folder}/{name}" for folder in FOLDERS for name in self._vault.names(f"{NAME}/{folder}")]
        top = self._vault.names(NAME)
        for name in (*(name for name in FILES if name in top), *found):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._vault.get(f"{NAME}/{name}"))

    def _written(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for path in self.folder.rglob("*"):
            # Drafts and checksums are hidden; and old files may go while somebody looks.
            with suppress(FileNotFoundError):
                if path.is_file() and not path.name.startswith("."):
                    found[str(path.relative_to(self.folder))] = path.stat().st_mtime_ns
        return found

    def close(self) -> None:
        if self._draft:
            self._draft.cleanup()
