"""What every source of events looks like to the cleaning behind it: columns as the user has them, batch by batch."""

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
    """What the user calls the two columns that every event has."""

    type: str
    time: str


@dataclass(frozen=True)
class Chunk:
    """Some events as they came, and where they stand in their source: lines count from 1, rows from 0."""

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
        """The columns there are, type and time included; none at all means that there are no events."""

    @property
    def total(self) -> int | None:
        """The number of events, where it is known beforehand."""

    @property
    def in_memory(self) -> bool:
        """Whether all events come as one chunk."""

    def head(self, column: str) -> pa.Array:
        """The first values of a column, to see what they look like."""

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        """The events, with those of these columns that there are."""

    def progress(self) -> float | None:
        """The fraction that has been read, where it is known."""


def require(types: Mapping[str, pa.DataType], names: Names, source: str) -> None:
    """Refuses a source without a type or a time column."""
    if names.type == names.time:
        raise InputError(f"type_column and time_column are both {names.type!r}; an event needs one column for each.")
    for role, name in (("type", names.type), ("time", names.time)):
        if types and name not in types:
            meant = nearest(name, types)
            hint = f" Did you mean {role}_column={meant!r}?" if meant else f" Name yours with {role}_column."
            raise InputError(
                f"{source} has no {role} column {name!r}. Its columns are: {names_there_are(types)}.{hint}"
            )
