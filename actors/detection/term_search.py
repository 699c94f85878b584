"""What a search for matches asks of the searches of its terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.matches import Bound
from elsinore.planner.detection.normal_form import Clause

Ints = npt.NDArray[np.int64]

NONE: Ints = np.zeros(0, np.int64)

ROOM = 1 << 18
"""Number of events of matches that a search writes before it is interrupted."""

ALL = 2**62
"""A number of matches that no trigger has."""


@dataclass(frozen=True)
class Chunk:
    """Some matches of a term."""

    count: int
    bound: dict[str, Bound]
    """By variable that the term binds, the rows of its events in the window."""
    table: npt.NDArray[np.int32] | None = None
    """The same as a table, by match and variable, where each binds one event."""

    @classmethod
    def of_table(cls, names: Sequence[str], table: npt.NDArray[np.int32]) -> Chunk:
        return cls(len(table), {name: Bound(table[:, column]) for column, name in enumerate(names)}, table)


class Cursor(Protocol):
    """The search of a term, as far as it has come."""

    @property
    def trigger(self) -> int:
        """Return the number of the trigger at which it was interrupted."""
        ...

    def advance(self) -> tuple[Chunk, bool]:
        """Go on until there is no more room, or nothing more to find; return what was found, and whether it was all."""
        ...

    def skip(self) -> None:
        """Leave out what is still to be found of the trigger at which it was interrupted."""


class TermSearch(Protocol):
    """The search for the matches of a clause that one of its elements ends (or begins)."""

    clause: Clause
    rows: Ints
    """By trigger, the row of the last event (or the first) of its matches, in ascending order."""
    ascending: bool
    """Whether matches are found in the order of their last events."""
    skips: bool
    """Whether the matches of a trigger are found in the order of rows, and a cursor may skip the others."""

    def begin(self) -> Cursor: ...

    def counts(self) -> Ints:
        """Return the number of matches by trigger."""
        ...

    def first(self, most: int) -> TermSearch:
        """Return a search that may leave out matches of a trigger behind its first `most`, in the order of rows."""
        ...

    def between(self, lo: int, hi: int) -> TermSearch:
        """Return the search for the matches whose triggers are rows from `lo` to `hi`."""
        ...


class JoinedSearch(TermSearch, Protocol):
    """The search for matches of single events."""

    names: list[str]
    """The variables that are shown, in this order."""


def table_of(search: TermSearch, most: int) -> npt.NDArray[np.int32] | None:
    """Return all matches of single events, by match and variable; None if they have more events than that."""
    cursor, tables, size, done = search.begin(), [], 0, False
    while not done:
        chunk, done = cursor.advance()
        assert chunk.table is not None
        tables.append(chunk.table)
        size += chunk.table.size
        if size > most:
            return None
    return np.concatenate(tables)
