"""Events of a body, before their columns are fitted to the types of their stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from elsinore.connectors.errors import InputError


class UnreadableBodyError(InputError):
    """Bytes that are not in the format that their sender declared."""


class BodyTooLargeError(InputError):
    """More events or values than one body may have."""


MAX_CELLS = 2_000_000
"""Largest number of values of a body that is read as Python objects: each needs a hundred bytes."""


MAX_COLUMN_BYTES = 64 << 20
"""Bytes that the values of a body may take as columns, by default."""

VALUE_BYTES = 8
"""Bytes of a value in a column, null or not."""


@dataclass(frozen=True)
class RawEvents:
    events: int
    columns: Mapping[str, list[Any] | pa.Array]
    """Lists of Python values, or Arrow arrays, by name."""


def raw_of(events: Sequence[Mapping[str, Any]], room: int = MAX_COLUMN_BYTES) -> RawEvents:
    names = dict.fromkeys(name for event in events for name in event)
    check_room(len(events), len(names), room)
    return RawEvents(len(events), {name: [event.get(name) for event in events] for name in names})


class CellLimit:
    """A counter of values, which stops reading when they exceed `MAX_CELLS`."""

    def __init__(self) -> None:
        self.found = 0

    def more(self, event: Mapping[str, Any]) -> None:
        self.found += len(event) + 1
        if self.found > MAX_CELLS:
            raise BodyTooLargeError(
                f"the events of one body have more than {MAX_CELLS:,} values; send them in several bodies"
            )


def check_room(events: int, columns: int, room: int) -> None:
    """Refuse a table that would take more than `room` bytes: each column has a value, perhaps null, for every event."""
    if events * columns * VALUE_BYTES > room:
        raise BodyTooLargeError(
            f"{events:,} events with {columns:,} columns are {events * columns:,} values, including nulls, and one "
            f"body may have {room // VALUE_BYTES:,}; send them in bodies of at most "
            f"{max(1, room // VALUE_BYTES // columns):,} events"
        )


def too_many(limit: int) -> BodyTooLargeError:
    return BodyTooLargeError(f"there are more than {limit:,} events in one body; send them in several bodies")
