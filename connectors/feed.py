"""The interface of every source of events: batches of columns with the user's names and types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.connectors.dead_letters import DeadLetters, Where
from elsinore.connectors.errors import InputError, names_there_are, nearest


@dataclass(frozen=True, slots=True)
class Names:
    """The user's names of the type column and the time column."""

    type: str
    time: str


@dataclass(frozen=True)
class Chunk:
    """Events as they were read, and their places in the source: lines count from 1, rows from 0."""

    batch: pa.RecordBatch
    source: str
    unit: str
    numbers: Sequence[int] | npt.NDArray[np.int64] | None

    def where(self, row: int) -> Where:
        return Where(self.source, self.unit, None if self.numbers is None else int(self.numbers[row]))


class Feed(Protocol):
    """A source of events."""

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        """Return the columns with their types, type and time included; if there are no columns, there are no events."""

    @property
    def total(self) -> int | None:
        """Return the number of events, or None if it is not known before they are read."""

    @property
    def in_memory(self) -> bool:
        """Return whether all events come as one chunk."""

    def holds_at_most(self, events: int) -> bool:
        """Return whether there are at most so many events; texts are estimated, streams are read ahead."""

    def head(self, column: str) -> pa.Array:
        """Return the first values of a column, from which their form is inferred."""

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        """Yield the events, with those of these columns that the source has, and bury bad events."""

    def progress(self) -> float | None:
        """Return the fraction that has been read, or None if it is not known."""


def require(types: Mapping[str, pa.DataType], names: Names, source: str) -> None:
    """Raise InputError if a source has no type column or no time column."""
    if names.type == names.time:
        raise InputError(f"type_column and time_column are both {names.type!r}; an event needs one column for each.")
    for role, name in (("type", names.type), ("time", names.time)):
        if types and name not in types:
            meant = nearest(name, types)
            hint = f" Did you mean {role}_column={meant!r}?" if meant else f" Name yours with {role}_column."
            raise InputError(
                f"{source} has no {role} column {name!r}. Its columns are: {names_there_are(types)}.{hint}"
            )
