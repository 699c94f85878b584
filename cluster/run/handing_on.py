"""Hand on the rows of a batch from graph actors to the code that writes them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import chain, islice

from elsinore.actors.rows.rows import Rows
from elsinore.cluster.run.collecting import SupervisedCollector
from elsinore.cluster.run.crew import Crew


class BatchRows:
    """The rows of a batch, some at a time; false if there are none.

    Actors search matches as they are taken, so many matches fill no memory, and a receiver that is slow makes the
    actors wait. To iterate again is to begin with the first row again.
    """

    def __init__(
        self,
        crew: Crew,
        collecting: SupervisedCollector,
        batch: int,
        note: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Call `note` after each part of the rows with the number of rows that were handed on."""
        self._crew, self._collecting, self._batch, self._note = crew, collecting, batch, note
        self.count = 0
        """Number of rows that were handed on."""
        self._begun = False
        self._parts, self._first = self._beginning()

    def __bool__(self) -> bool:
        return bool(self._first)

    def __iter__(self) -> Iterator[list[Rows]]:
        if self._begun:
            self._parts.close()
            self._parts, self._first = self._beginning()
        self._begun, self.count = True, 0
        for rows in chain(self._first, self._parts):
            self.count += sum(map(len, rows))
            self._note(self.count)
            yield rows

    def _beginning(self) -> tuple[Generator[list[Rows]], list[list[Rows]]]:
        """Ask for the rows from the first on; return them, and the first part, which is taken already."""
        self._crew.repeat(self._batch)
        parts = self._collected()
        return parts, list(islice(parts, 1))

    def _collected(self) -> Generator[list[Rows]]:
        for parts in self._crew.rows(self._batch):
            if rows := self._collecting.collect(parts):
                yield rows
