"""What becomes of a batch whose files Spark cannot read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from elsinore.connectors.errors import FailedError
from elsinore.connectors.spark.setting_aside import causes, damaged, named, set_aside, tells_of_damage
from elsinore.connectors.spark.streams import FORMATS, DamagedFileError, Stream, UnreadableError, read_alone
from elsinore.connectors.spark.taken import files_of

T = TypeVar("T")

TRIES = 5
"""Times that a batch, or the first file of a stream, is read before the stream is given up."""

PAUSE_SECONDS = 0.5
"""Before the second try; each pause is twice as long as the one before."""


class UnfinishedError(Exception):
    """The batch at work is given up here, to be done again from its beginning: by another query of Spark's."""


@dataclass
class Reading:
    """The tries of one batch after another.

    A batch that fails is begun anew, by a query that looks for its files again: those that are gone by then, because
    they were set aside or because somebody deleted them, are no part of it any more.
    """

    log: Path
    """Spark's, of the files of each batch."""
    aside: Callable[[Path], Path]
    """The folder in which a damaged file is kept."""
    wait: Callable[[float], object]
    batch: int = -1
    failures: int = 0
    """Of this batch, in a row, over what may pass."""

    def first(self, read: Callable[[], T]) -> tuple[T, int]:
        """Read the first file of a stream; returns what was read, and how many files were set aside on the way."""
        moved = failures = 0
        while True:
            try:
                return read(), moved
            except DamagedFileError as error:
                moved += self._moved(error.path)
            except UnreadableError:
                failures += 1
                if failures == TRIES:
                    raise
                self.wait(PAUSE_SECONDS * 2 ** (failures - 1))

    def failed(self, error: Py4JJavaError, stream: Stream, batch: int) -> int:
        """Set the damaged files of a batch aside, and return how many there were; where there is none, wait a moment.

        Raises FailedError when this batch has failed too often over what may pass.
        """
        files = [path for path in files_of(self.log, batch) if path.suffix.lower() in FORMATS]
        path = named(error, files)
        there = [path] if path else [one for one in files if one.exists()]
        bad = [one for one in there if damaged(one)]
        if not bad and tells_of_damage(error):
            bad = there if path else self._culprits(stream, there)
        if bad:
            return sum(map(self._moved, bad))
        self._again(batch, path, causes(error)[-1])
        return 0

    def _culprits(self, stream: Stream, files: list[Path]) -> list[Path]:
        """Find the file that Spark cannot read by itself either. Of a damaged footer it does not say whose it is."""
        for path in files:
            try:
                read_alone(stream.frame.sparkSession, path, stream.frame.schema)
            except Py4JJavaError as error:
                if tells_of_damage(error):
                    return [path]
        return []

    def _again(self, batch: int, path: Path | None, cause: str) -> None:
        self.failures = self.failures + 1 if batch == self.batch else 1
        self.batch = batch
        if self.failures >= TRIES:
            what = f"{path} cannot be read" if path else "Spark failed over a batch"
            raise FailedError(
                f"{what}: {cause}. It was tried {TRIES} times. Nothing was moved or lost: mend this, "
                "and begin again with the same checkpoint"
            )
        self.wait(PAUSE_SECONDS * 2 ** (self.failures - 1))

    def _moved(self, path: Path) -> int:
        folder = self.aside(path)
        try:
            set_aside(path, folder)
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise FailedError(
                f"{path} is damaged, and cannot be moved to {folder}: {error.strerror}. Move it away, and begin again "
                "with the same checkpoint"
            ) from error
        return 1
