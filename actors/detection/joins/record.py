"""The record of stored matches: a row per batch and stored node of the plan."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from elsinore.actors.detection.joins.planned import Planned
from elsinore.planner.time.clock import Clock

COLUMNS: dict[str, pa.DataType | None] = {
    "node": pa.string(),
    "time": None,
    "events": pa.int64(),
    "matches": pa.int64(),
    "expected": pa.float64(),
    "queries": pa.list_(pa.string()),
}
"""The columns of the table; None stands for the type of the stream's times."""


@dataclass(frozen=True)
class Filling:
    """What a batch added to a stored node."""

    node: str
    """What the node finds, as text."""
    time: int
    """The time of the first event of the batch."""
    events: int
    """The events of the batch."""
    matches: int
    """The matches of the node that end in the batch."""
    expected: float
    """The matches that were expected in a window when the plan was chosen."""
    queries: tuple[str, ...]
    """The queries that the node is stored for."""


class StoredRecord:
    """The fillings of the stored nodes of a run, the last ones."""

    def __init__(self) -> None:
        self.fillings: deque[Filling] = deque()
        self._known: dict[str, int] = {}

    def note(self, planned: Planned, time: int, events: int) -> None:
        """Record what a batch added, given the time of its first event."""
        for node, queries, seen in planned.stored_nodes():
            more = seen - self._known.get(node.identity, 0)
            self.fillings.append(Filling(node.text, time, events, more, node.matches, queries))
        self._known = planned.stored()

    def forget(self, but: int) -> None:
        """Drop the oldest fillings, all but so many."""
        while len(self.fillings) > but:
            self.fillings.popleft()


def stored_table(records: Iterable[StoredRecord], clock: Clock) -> pa.Table:
    """Return the fillings of several runs as one table; `clock` is that of the user's times."""
    found = [one for record in records for one in record.fillings]
    times = clock.show(np.array([one.time for one in found], np.int64))
    columns = {name: [getattr(one, name) for one in found] for name, kind in COLUMNS.items() if kind is not None}
    return pa.table({name: times if kind is None else pa.array(columns[name], kind) for name, kind in COLUMNS.items()})
