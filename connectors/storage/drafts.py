"""Files that appear only when they are complete."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from elsinore.connectors.errors import InputError
from elsinore.connectors.storage.safe_files import sync


class Draft:
    """A file that is written under a temporary name beside its own, and renamed when it is closed."""

    def __init__(self, name: Path) -> None:
        self._name = name
        self.path = name.with_name(f".{name.name}.{os.getpid()}")
        try:
            self.stream: IO[bytes] = self.path.open("wb")
        except OSError as error:
            raise InputError(f"{name} cannot be written: {error.strerror or error}.") from error

    def close(self) -> None:
        """Rename the file to its own name; when this returns, it survives a loss of power."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()
        self.path.replace(self._name)
        sync(self._name.parent)

    def abandon(self) -> None:
        self.stream.close()
        self.path.unlink(missing_ok=True)
