"""Events of a body, before anybody has looked at what their columns should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from connectors.errors import InputError


class UnreadableError(InputError):
    """Bytes that are not what they are said to be."""


class TooManyError(InputError):
    """More than anybody wants to hold at once."""


CELLS = 2_000_000
"""Values of a body that is read as objects of Python's: each needs a hundred bytes."""


@dataclass(frozen=True)
class Raw:
    events: int
    columns: Mapping[str, list[Any] | pa.Array]
    """As Python has them, or as Arrow."""


def raw_of(events: Sequence[Mapping[str, Any]]) -> Raw:
    names = dict.fromkeys(name for event in events for name in event)
    return Raw(len(events), {name: [event.get(name) for event in events] for name in names})


class Cells:
    """Counts them while they are made."""

    def __init__(self) -> None:
        self.found = 0

    def more(self, event: Mapping[str, Any]) -> None:
        self.found += len(event) + 1
        if self.found > CELLS:
            raise TooManyError(f"the events of one body have more than {CELLS:,} values; send them in several")


def too_many(limit: int) -> TooManyError:
    return TooManyError(f"there are more than {limit:,} events in one body; send them in several")
