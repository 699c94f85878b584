"""Storage for bytes that must not be lost: a folder, or any other address that fsspec reaches.

A file is written completely or not at all, and carries a checksum: it is read as it was written, or an error is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]

from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.storage.safe_files import Piece, make_folder, put_bytes, put_new

DIGEST_BYTES = 16


class DamagedError(Exception):
    """A file that is not as it was written: cut short, changed, or gone."""


@dataclass(frozen=True)
class Vault:
    """A storage place, given by its address alone, so it can be passed to any process."""

    url: str

    @cached_property
    def _place(self) -> tuple[Any, str]:
        try:
            filesystem, root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise InputError(f"{self.url} cannot be used for a checkpoint: {error}") from None
        return filesystem, root.rstrip("/")

    @property
    def local(self) -> bool:
        protocol = self._place[0].protocol
        return "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    @property
    def root(self) -> str:
        """Return the address as programs without fsspec use it: a plain path if it is one."""
        return str(self._place[1]) if self.local else self.url.rstrip("/")

    def put(self, name: str, *pieces: Piece) -> None:
        """Write a file of these pieces; when this returns, it survives a crash of any process."""
        digest = blake2b(digest_size=DIGEST_BYTES)
        for piece in pieces:
            digest.update(piece)
        sealed = (digest.digest(), *pieces)
        path = self._path(name)
        with self.written(name):
            if self.local:
                make_folder(Path(path).parent)
                put_bytes(Path(path), *sealed)
            else:
                self._place[0].makedirs(path.rsplit("/", 1)[0], exist_ok=True)
                self._place[0].pipe_file(path, b"".join(sealed))

    def get(self, name: str) -> bytes:
        try:
            sealed: bytes = self._place[0].cat_file(self._path(name))
        except FileNotFoundError:
            raise DamagedError(f"{self.root}/{name} is missing") from None
        content = sealed[DIGEST_BYTES:]
        if len(sealed) < DIGEST_BYTES or blake2b(content, digest_size=DIGEST_BYTES).digest() != sealed[:DIGEST_BYTES]:
            raise DamagedError(f"{self.root}/{name} is damaged: it was cut short or changed")
        return content

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order, without hidden ones."""
        filesystem, _ = self._place
        try:
            found = filesystem.ls(self._path(folder), detail=False, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(name for path in found if not (name := path.rstrip("/").rsplit("/", 1)[-1]).startswith("."))

    def claim(self, name: str) -> bool:
        """Create an empty file, and return whether it is new: of several processes that try, only one succeeds."""
        filesystem, _ = self._place
        with self.written(name):
            if self.local:
                make_folder(Path(self._path(name)).parent)
                return put_new(Path(self._path(name)), b"")
            filesystem.makedirs(self._path(name).rsplit("/", 1)[0], exist_ok=True)
            try:
                with filesystem.open(self._path(name), "xb"):
                    return True
            except FileExistsError:
                return False

    def remove(self, name: str) -> None:
        filesystem, _ = self._place
        if filesystem.exists(self._path(name)):
            filesystem.rm(self._path(name), recursive=True)

    def _path(self, name: str) -> str:
        return f"{self._place[1]}/{name}"

    @contextmanager
    def written(self, name: str) -> Iterator[None]:
        """Turn an OSError into an error that says what to do."""
        try:
            yield
        except OSError as error:
            raise FailedError(
                f"{self.root}/{name} cannot be written: {error.strerror or error}. What was written before is "
                "intact: fix the cause, and start again with the same checkpoint."
            ) from error
