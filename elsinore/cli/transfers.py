"""The implementation of `elsinore send` and `elsinore results`, behind their options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from elsinore.connectors.dead_letters import DeadLetters
from elsinore.connectors.feed import Names
from elsinore.connectors.files import FilesFeed
from elsinore.connectors.formats.json_rows import json_rows

if TYPE_CHECKING:
    from elsinore.client.facts import Sent
    from elsinore.client.pages import Page
    from elsinore.client.waiting import Job


class Files:
    """The events of files, as record batches; events that cannot be read are counted."""

    def __init__(self, paths: list[str], job: Job) -> None:
        document = job.known.document
        self._feed = FilesFeed(paths, Names(document["type_column"], document["time_column"]))
        self._letters = DeadLetters(None, strict=False)

    @property
    def total(self) -> int | None:
        """Return the number of events, or None where it is unknown before reading them."""
        return self._feed.total

    @property
    def unreadable(self) -> int:
        return self._letters.count

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for chunk in self._feed.read(list(self._feed.types), self._letters):
            yield chunk.batch


def send(job: Job, files: Files, key: str | None, progress: Callable[[int], object]) -> str:
    """Send all events to a job, and return a summary."""
    sent: Sent = job.send(files, key=key, progress=progress)
    unreadable = f"; {files.unreadable:,} could not be read" if files.unreadable else ""
    return f"{job.id}: {sent}{unreadable}"


def write(pages: Iterator[Page]) -> None:
    """Write rows to stdout as JSON lines, page by page as they arrive."""
    for page in pages:
        columns = {query: ("query", *names) for query, names in page.columns.items()}
        for batch in page.table.combine_chunks().to_batches():
            for lines in json_rows(batch, columns):
                sys.stdout.write(lines)
        sys.stdout.flush()
