"""A stream replayed: what latency, throughput and memory mean here."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.rows import Rows
from cluster.local import LocalRun
from elsinore.api import prepare
from elsinore.bench.settings import SETTINGS, Point, Setting
from planner.clock import Clock

PIECES = 10
"""Of a pane."""

RUNS, ENOUGH = 3, 10.0
"""The best of several runs, unless one takes so many seconds."""

WARM = 1_000

DEFINITIONS = {
    "latency": (
        "Seconds from the arrival of the event that ends a window, the first one behind it, to the rows of the window, "
        "averaged over all windows of all queries. Events arrive at their rate on a clock of their own; what each "
        "piece of the stream costs (processor time of one core) is added to that clock, and a piece waits for those "
        f"before it. A pane is fed in {PIECES} pieces, and the event that begins the next one by itself."
    ),
    "throughput": "Events a second: the events of the stream over the processor time of feeding it to all queries.",
    "memory": (
        "Bytes: the peak of the process's resident memory during a run over the stream, less what was resident before "
        "it, kernels loaded and events in memory."
    ),
    "spent": "Seconds of processor time of feeding the stream, all rows made.",
    "repetition": f"The fastest of {RUNS} runs; the only one where it took more than {ENOUGH:g} seconds.",
}
"""Goes with every figure that is written."""


@dataclass
class Watch:
    """Adds up what pieces of a stream cost, on a clock on which they arrive in their time."""

    spent: float = 0.0
    """Processor time, all pieces and rows."""
    now: float = 0.0
    windows: int = 0
    late: float = 0.0
    """Summed up over windows."""
    rows: int = 0
    found: list[Rows] = field(default_factory=list)
    """By this piece."""

    def start(self, arrived: float) -> None:
        self.arrived, self.started = arrived, process_time()

    def stop(self) -> None:
        took = process_time() - self.started
        self.spent, self.now = self.spent + took, max(self.now, self.arrived) + took
        windows = sum(map(_windows, self.found))
        self.windows, self.late = self.windows + windows, self.late + windows * (self.now - self.arrived)
        self.rows += sum(map(len, self.found))
        self.found.clear()


@dataclass(frozen=True)
class Pieces:
    """A source that hands out a stream piece by piece, and watches how long it takes until it is asked for the next."""

    batch: pa.RecordBatch
    setting: Setting
    rate: float
    form: pa.DataType
    watch: Watch
    dead: int = 0

    @property
    def time_unit(self) -> str:
        return self.setting.time_unit

    def batches(self, clock: Clock, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
        pane = round(self.setting.pane * 60 * clock.ticks_per_second)
        for begin, end in _pieces(self.batch.column(1).to_numpy(), pane):
            self.watch.start(end * 60 / self.rate)
            yield self.batch.slice(begin, end - begin)
            self.watch.stop()
        self.watch.start(len(self.batch) * 60 / self.rate)


def measured(point: Point) -> dict[str, Any]:
    """The metrics of a point, in this process."""
    setting = SETTINGS[point.setting]
    events = setting.events(round(point.rate * point.minutes), point.rate)
    replay(point, events.slice(0, WARM))
    first = replay(point, events)
    runs = [first, *(replay(point, events) for _ in range(1, RUNS) if first["spent"] < ENOUGH)]
    best = min(runs, key=lambda run: run["spent"])
    return best | {"memory": first["memory"]}


def replay(point: Point, events: pa.Table) -> dict[str, Any]:
    """The metrics of one run."""
    setting, watch = SETTINGS[point.setting], Watch()
    job = prepare(
        setting.workload(point.queries),
        events,
        engine="local",
        strategy=point.strategy,
        numeric=setting.numeric,
        lateness=0,
        time_unit=setting.time_unit,
    )
    batches = job.source.batches(job.run.clock, job.run.plan.columns)
    (batch,) = pa.Table.from_batches(list(batches)).combine_chunks().to_batches()
    pieces = Pieces(batch, setting, point.rate, job.source.form, watch)
    run = LocalRun(job.run.plan, pieces, numeric=setting.numeric)
    before = _memory_before()
    for rows in run:
        watch.found.append(rows)
    watch.stop()
    peak = _status("VmHWM")
    return {
        "latency": watch.late / max(watch.windows, 1),
        "throughput": len(events) / watch.spent,
        "memory": None if before is None or peak is None else max(peak - before, 0),
        "spent": watch.spent,
        "rows": watch.rows,
        "bursts": run.metrics.bursts,
        "shared_bursts": run.metrics.shared_bursts,
        "snapshots": run.metrics.snapshots,
        "decision_seconds": run.metrics.decision_seconds,
    }


def _windows(rows: Rows) -> int:
    return len(np.unique(np.column_stack([rows.window_start, rows.window_end]), axis=0))


def _pieces(times: npt.NDArray[np.int64], pane: int) -> Iterator[tuple[int, int]]:
    """Where to cut the stream: at parts of a pane, and behind the first event of a pane, which ends windows."""
    new_piece = np.flatnonzero(np.diff(times * PIECES // pane)) + 1
    new_pane = np.flatnonzero(np.diff(times // pane)) + 1
    cuts = np.unique(np.concatenate([[0], new_piece, new_pane, new_pane + 1, [len(times)]]))
    yield from zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)


def _memory_before() -> int | None:
    """What is resident once all that is free has been given back; the peak so far is forgotten."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # of the C library of Linux
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> int | None:
    """In bytes, as the kernel has it; None where the system has no /proc."""
    with suppress(OSError):
        found = re.search(rf"{name}:\s+([0-9]+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) * 1024
    return None
