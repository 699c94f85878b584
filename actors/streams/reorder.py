"""Events in order of time: the watermark, the events that wait for it, and late events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.joining import one_table
from elsinore.actors.state import pack_batch, unpack_batch
from elsinore.planner.language.errors import Problem, WorkloadError

START, END = -(2**63), 2**63 - 1
"""Times in ticks before and after all others."""


class Reorder:
    """A buffer that holds events back until the watermark has passed them.

    The watermark is the latest time seen less the allowed lateness. Events behind it are late. Events at it or after it
    wait, so that events of one time are handed on together however the input is cut.
    """

    def __init__(self, lateness: int) -> None:
        self.lateness = lateness
        self.watermark = START
        self.waiting: pa.RecordBatch | None = None

    def feed(
        self, batch: pa.RecordBatch, watermark: int | None = None
    ) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
        """Take in a batch, and return the events that may be processed now, sorted by time, and the late ones.

        `watermark`: that of the whole stream, where this batch is of a part of it.
        """
        times = batch.column(1).to_numpy()
        late = None
        if self.watermark > START and len(times) and int(times.min()) < self.watermark:
            behind = times < self.watermark
            late = batch.filter(pa.array(behind))
            batch = batch.filter(pa.array(~behind))
        if not batch.num_rows and watermark is None:
            return None, late
        batch = _sorted(self._joined(batch))
        if watermark is None:
            watermark = int(batch.column(1)[-1].as_py()) - self.lateness
        self.watermark = max(self.watermark, watermark)
        ready = int(np.searchsorted(batch.column(1).to_numpy(), self.watermark))
        self.waiting = batch.slice(ready)
        return batch.slice(0, ready), late

    def finish(self) -> pa.RecordBatch | None:
        """Return all events that wait."""
        waiting, self.waiting = self.waiting, None
        return waiting

    def keep(self, wanted: Callable[[pa.RecordBatch], npt.NDArray[np.bool_]]) -> None:
        """Keep only the waiting events that `wanted` selects."""
        if self.waiting is not None and self.waiting.num_rows:
            self.waiting = self.waiting.filter(pa.array(wanted(self.waiting)))

    def _joined(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch if self.waiting is None or not self.waiting.num_rows else one_batch([self.waiting, batch])

    def save(self) -> dict[str, Any]:
        waiting = pack_batch(self.waiting) if self.waiting is not None and self.waiting.num_rows else None
        return {"watermark": self.watermark, "waiting": waiting}

    def load(self, state: dict[str, Any]) -> None:
        self.watermark = state["watermark"]
        self.waiting = unpack_batch(state["waiting"]) if state["waiting"] else None


def one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return one batch of the events of several, where integers become floats if other batches have floats."""
    try:
        whole = one_table(batches)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        # Integers beyond 2**53 and floats in a later batch, for instance: no column holds both.
        message = f"values of later events do not fit those of earlier ones: {error}"
        raise WorkloadError([Problem(message, "give an attribute values of one kind")]) from None
    if max(column.num_chunks for column in whole.columns) > 1:
        hint = "drop the column, or run on Spark and Ray: engine='ray'"
        raise WorkloadError([Problem("the texts of a column take more than 2 GiB, which one batch cannot hold", hint)])
    return whole.to_batches()[0]


def _sorted(batch: pa.RecordBatch) -> pa.RecordBatch:
    times = batch.column(1).to_numpy()
    if bool(np.all(times[1:] >= times[:-1])):
        return batch
    return batch.take(pa.array(np.argsort(times, kind="stable")))
