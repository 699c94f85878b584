"""Events of a body, before anybody has looked at what their columns should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from elsinore.connectors.errors import InputError


class UnreadableError(InputError):
    """Bytes that are not what they are said to be."""


class TooManyError(InputError):
    """More than anybody wants to hold at once."""


CELLS = 2_000_000
"""Values of a body that is read as objects of Python's: each needs a hundred bytes."""


ROOM = 64 << 20
"""Bytes that the values of a body may take as columns, if nothing else is said."""

VALUE_BYTES = 8
"""Of a value in a column, whether it is null or not."""


@dataclass(frozen=True)
class Raw:
    events: int
    columns: Mapping[str, list[Any] | pa.Array]
    """As Python has them, or as Arrow."""


def raw_of(events: Sequence[Mapping[str, Any]], room: int = ROOM) -> Raw:
    names = dict.fromkeys(name for event in events for name in event)
    check_room(len(events), len(names), room)
    return Raw(len(events), {name: [event.get(name) for event in events] for name in names})


class Cells:
    """Counts them while they are made."""

    def __init__(self) -> None:
        self.found = 0

    def more(self, event: Mapping[str, Any]) -> None:
        self.found += len(event) + 1
        if self.found > CELLS:
            raise TooManyError(f"the events of one body have more than {CELLS:,} values; send them in several")


def check_room(events: int, columns: int, room: int) -> None:
    """Refuse a table that would take more memory than the body that it is made of: a column has all events."""
    if events * columns * VALUE_BYTES > room:
        raise TooManyError(
            f"{events:,} events with {columns:,} columns are {events * columns:,} values, nulls among them, and one "
            f"body may have {room // VALUE_BYTES:,}; send them in bodies of at most "
            f"{max(1, room // VALUE_BYTES // columns):,} events"
        )


def too_many(limit: int) -> TooManyError:
    return TooManyError(f"there are more than {limit:,} events in one body; send them in several")
