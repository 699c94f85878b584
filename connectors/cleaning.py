"""Conversion of events to batches for the engine: type, time in ticks, and the attributes that are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.calendar_years import as_python
from elsinore.connectors.columns import as_float, attribute_type, encode_types, is_text, read_attribute
from elsinore.connectors.dead_letters import DeadLetters
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Chunk, Names
from elsinore.connectors.times import other_zone, read_times, too_far
from elsinore.planner.time.clock import Clock

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cleaning:
    """The conversion for the events of one source; `types` are the attributes' types when the source was opened."""

    names: Names
    form: pa.DataType
    types: Mapping[str, pa.DataType]
    letters: DeadLetters

    def clean(self, chunk: Chunk, clock: Clock, columns: Sequence[str]) -> pa.RecordBatch:
        """Return the good events of a chunk as a batch, and bury the others."""
        batch = chunk.batch
        types = encode_types(batch.column(self.names.type), self.names.type)
        times = read_times(batch.column(self.names.time), self.form)
        dead = self._dead(chunk, types, times, clock)
        arrays = [types, times, *(self._attribute(batch, name, chunk.source) for name in columns)]
        if dead is not None:
            alive = pa.array(~dead)
            arrays = [array.filter(alive) for array in arrays]
        arrays[1] = pa.array(clock.read(arrays[1]))
        return pa.RecordBatch.from_arrays(arrays, ["type", "time", *columns])

    def _attribute(self, batch: pa.RecordBatch, name: str, source: str) -> pa.Array:
        if name not in batch.schema.names or name not in self.types:
            return pa.nulls(len(batch))
        values = read_attribute(batch.column(name), name)
        wanted = self.types[name]
        if pa.types.is_floating(wanted) and pa.types.is_integer(values.type):
            return as_float(values, name)
        if not _go_together(values.type, wanted):
            raise InputError(
                f"column {name!r} holds {values.type} in {source}, but {wanted} in earlier events; "
                "write it alike in all of them."
            )
        return values

    def _dead(self, chunk: Chunk, types: pa.Array, times: pa.Array, clock: Clock) -> Mask | None:
        """Bury the events without a type or a usable time, and return a mask of them; None if there are none."""
        far = too_far(times, clock)
        if not types.null_count and not times.null_count and far is None:
            return None
        untyped = types.is_null().to_numpy(zero_copy_only=False)
        dead: Mask = untyped | times.is_null().to_numpy(zero_copy_only=False)
        if far is not None:
            dead = dead | far
        if self.letters.wants_events:
            for row in np.flatnonzero(dead).tolist():
                self._bury(chunk, row, bool(untyped[row]))
        else:
            self.letters.bury_unseen(int(dead.sum()))
        return dead

    def _bury(self, chunk: Chunk, row: int, untyped: bool) -> None:
        event = {name: as_python(chunk.batch.column(name)[row : row + 1])[0] for name in chunk.batch.schema.names}
        time = event[self.names.time]
        if untyped:
            reason = f"it has no type (column {self.names.type!r})"
        elif time is None or time != time:
            reason = f"it has no time (column {self.names.time!r})"
        elif zone := other_zone(time, self.form):
            reason = f"its time {time!r} has {zone}; write all times alike"
        else:
            reason = (
                f"its time {str(time)!r} cannot be read as {self.form}, or is out of range: timestamps must be in "
                "the years 1 to 9999"
            )
        self.letters.bury(reason, chunk.where(row), event)


def _go_together(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a later part may have this type: the same, null, floats after integers, texts encoded or not."""
    if kind.equals(wanted) or pa.types.is_null(kind) or pa.types.is_null(wanted):
        return True
    if pa.types.is_floating(kind) and pa.types.is_integer(wanted):
        return True
    return bool(_plain(kind).equals(_plain(wanted)))


def _plain(kind: pa.DataType) -> pa.DataType:
    kind = attribute_type(kind)
    return kind.value_type if pa.types.is_dictionary(kind) and is_text(kind.value_type) else kind
