"""Retry batches whose files Spark cannot read, and set damaged files aside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from elsinore.connectors.errors import FailedError
from elsinore.connectors.spark.finished_files import files_of_batch
from elsinore.connectors.spark.setting_aside import causes, damaged, named, set_aside, tells_of_damage
from elsinore.connectors.spark.streams import FORMATS, DamagedFileError, Stream, UnreadableFileError, read_alone

T = TypeVar("T")

MAX_TRIES = 5
"""Attempts to read a batch, or the first file of a stream, before the stream fails."""

PAUSE_SECONDS = 0.5
"""Pause before the second attempt; each later pause is twice as long as the one before."""


class UnfinishedError(Exception):
    """The current batch was abandoned; a new Spark query repeats it from its beginning."""


@dataclass
class Reading:
    """The attempts to read the batches of a stream.

    A batch that fails is repeated by a query that lists its files again. Files that were set aside or deleted by then
    are no longer part of it.
    """

    log: Path
    """The folder of Spark's log, which lists the files of each batch."""
    aside: Callable[[Path], Path]
    """Returns the folder to which a damaged file is moved."""
    wait: Callable[[float], object]
    batch: int = -1
    failures: int = 0
    """Consecutive failures of this batch that a retry may cure."""

    def first(self, read: Callable[[], T]) -> tuple[T, int]:
        """Read the first file of a stream; return the result, and how many files were set aside."""
        moved = failures = 0
        while True:
            try:
                return read(), moved
            except DamagedFileError as error:
                moved += self._set_aside(error.path)
            except UnreadableFileError:
                failures += 1
                if failures == MAX_TRIES:
                    raise
                self.wait(PAUSE_SECONDS * 2 ** (failures - 1))

    def failed(self, error: Py4JJavaError, stream: Stream, batch: int) -> int:
        """Set the damaged files of a batch aside, and return how many there were; if there is none, pause for a retry.

        Raise FailedError when this batch has failed too often without a damaged file.
        """
        files = [path for path in files_of_batch(self.log, batch) if path.suffix.lower() in FORMATS]
        path = named(error, files)
        there = [path] if path else [one for one in files if one.exists()]
        bad = [one for one in there if damaged(one)]
        if not bad and tells_of_damage(error):
            bad = there if path else self._culprits(stream, there)
        if bad:
            return sum(map(self._set_aside, bad))
        self._retry_later(batch, path, causes(error)[-1])
        return 0

    def _culprits(self, stream: Stream, files: list[Path]) -> list[Path]:
        """Find the damaged file by reading each alone: for a damaged footer Spark does not name the file."""
        for path in files:
            try:
                read_alone(stream.frame.sparkSession, path, stream.frame.schema)
            except Py4JJavaError as error:
                if tells_of_damage(error):
                    return [path]
        return []

    def _retry_later(self, batch: int, path: Path | None, cause: str) -> None:
        self.failures = self.failures + 1 if batch == self.batch else 1
        self.batch = batch
        if self.failures >= MAX_TRIES:
            what = f"{path} cannot be read" if path else "Spark cannot read a batch"
            raise FailedError(
                f"{what}: {cause}. {MAX_TRIES} attempts failed. No file was moved, and no event is lost: fix the "
                "cause, and start again with the same checkpoint"
            )
        self.wait(PAUSE_SECONDS * 2 ** (self.failures - 1))

    def _set_aside(self, path: Path) -> int:
        folder = self.aside(path)
        try:
            set_aside(path, folder)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise FailedError(
                f"{path} is damaged, and cannot be moved to {folder}: {error.strerror}. Move it away, and start again "
                "with the same checkpoint"
            ) from error
        return 1
