"""The events of the last window: all that detection keeps between batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.joining import one_table
from elsinore.actors.state import pack_batch, unpack_batch
from elsinore.actors.streams.batch import Batch
from elsinore.planner.language.errors import Problem, WorkloadError

Ints = npt.NDArray[np.int64]


class Window:
    """Events in the order of time, events of one time in the order of their arrival."""

    def __init__(self, names: frozenset[str] | None) -> None:
        """Keep events of the types `names`; None: of all types."""
        self.names = names
        self.events: pa.RecordBatch | None = None
        """The types, and the attributes by name."""
        self.times = np.zeros(0, np.int64)
        self.places = np.zeros(0, np.int64)
        """By event, how many events of the whole stream are earlier."""
        self.slots = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.times)

    def ticks(self, counts_events: bool) -> Ints:
        """Return the times of the events on the clock of a window."""
        return self.places if counts_events else self.times

    @property
    def columns(self) -> Mapping[str, pa.Array]:
        """Return the attributes."""
        if self.events is None:
            return {}
        return dict(zip(self.events.schema.names[1:], self.events.columns[1:], strict=True))

    def extend(self, batch: Batch, places: Ints | None) -> int:
        """Add the events of a batch that are in a partition, and return the number of those that were there before."""
        before = len(self)
        wanted = self._wanted(batch)
        events = pa.RecordBatch.from_arrays([batch.types, *batch.columns.values()], ["", *batch.columns])
        times, slots = batch.times, batch.slots
        found = np.zeros(len(times), np.int64) if places is None else places
        if not wanted.all():
            rows = np.flatnonzero(wanted)
            events, times, slots, found = events.take(pa.array(rows)), times[rows], slots[rows], found[rows]
        self.events = events if self.events is None or not before else _joined(self.events, events)
        self.times = np.concatenate([self.times, times])
        self.slots = np.concatenate([self.slots, slots])
        self.places = np.concatenate([self.places, found])
        return before

    def _wanted(self, batch: Batch) -> npt.NDArray[np.bool_]:
        wanted = batch.slots >= 0
        if self.names is not None:
            named = np.array([name in self.names for name in batch.types.dictionary.to_pylist()], np.bool_)
            wanted &= named[batch.types.indices.to_numpy()] if len(named) else False
        return wanted

    def drop(self, count: int) -> None:
        """Drop the first events."""
        if count and self.events is not None:
            self.events = self.events.slice(count)
            self.times, self.places, self.slots = self.times[count:], self.places[count:], self.slots[count:]

    def keep(self, kept: Ints, partitions: int) -> None:
        """Keep the events of these partitions alone, which are numbered in this order from now on."""
        if self.events is None:
            return
        renumbered = np.full(max(partitions, int(kept.max(initial=-1)) + 1), -1, np.int32)
        renumbered[kept] = np.arange(len(kept), dtype=np.int32)
        slots = renumbered[self.slots]
        stay = slots >= 0
        self.events = self.events.filter(pa.array(stay))
        self.times, self.places, self.slots = self.times[stay], self.places[stay], slots[stay]

    def save(self) -> dict[str, Any]:
        events = pack_batch(self.events) if self.events is not None and len(self) else None
        return {"events": events, "times": self.times, "places": self.places, "slots": self.slots}

    def load(self, state: dict[str, Any]) -> None:
        self.events = unpack_batch(state["events"]) if state["events"] else None
        self.times, self.places, self.slots = state["times"], state["places"], state["slots"]


def _joined(a: pa.RecordBatch, b: pa.RecordBatch) -> pa.RecordBatch:
    try:
        joined = one_table([a, b], own=1)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        hint = "give an attribute values of one kind"
        raise WorkloadError(
            [Problem(f"values of later events do not fit those of earlier ones: {error}", hint)]
        ) from None
    return joined.to_batches()[0] if joined.num_rows else b
