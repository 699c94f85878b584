"""A stream replayed: what latency, throughput and memory mean here."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.rows import Rows
from elsinore.api import Job, prepare
from elsinore.bench.settings import SETTINGS, Point

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
    "repetition": f"The fastest of {RUNS} runs; the only one where it took more than {ENOUGH:g} seconds.",
}
"""Goes with every figure that is written."""


@dataclass(frozen=True)
class Replay:
    """One run over a stream."""

    latency: float
    spent: float
    """Seconds of processor time, all events and rows."""
    rows: int
    memory: int | None
    job: Job


def measured(point: Point) -> dict[str, Any]:
    """The metrics of a point, in this process."""
    setting = SETTINGS[point.setting]
    events = setting.events(round(point.rate * point.minutes), point.rate)
    replay(point, events.slice(0, WARM))
    first = replay(point, events)
    runs = [first, *(replay(point, events) for _ in range(1, RUNS) if first.spent < ENOUGH)]
    best = min(runs, key=lambda run: run.spent)
    return {
        "latency": best.latency,
        "throughput": len(events) / best.spent,
        "memory": first.memory,
        "rows": best.rows,
    }


def replay(point: Point, events: pa.Table) -> Replay:
    job = _prepared(point, events)
    batches = job.source.batches(job.run.clock, job.run.plan.columns)
    (batch,) = pa.Table.from_batches(list(batches)).combine_chunks().to_batches()
    pane = round(SETTINGS[point.setting].pane * 60 * job.run.clock.ticks_per_second)
    pieces = [*_pieces(batch.column(1).to_numpy(), pane), (len(batch), len(batch))]
    before = _memory_before()
    now = spent = late = 0.0
    windows = rows = 0
    for begin, end in pieces:
        started = process_time()
        found = job.run.engine.feed(batch.slice(begin, end - begin)) if begin < end else job.run.engine.finish()
        took = process_time() - started
        arrived = end * 60 / point.rate
        spent, now = spent + took, max(now, arrived) + took
        ended = sum(map(_windows, found))
        windows, late = windows + ended, late + ended * (now - arrived)
        rows += sum(map(len, found))
    peak = _status("VmHWM")
    memory = None if before is None or peak is None else max(peak - before, 0)
    return Replay(late / max(windows, 1), spent, rows, memory, job)


def _prepared(point: Point, events: pa.Table) -> Job:
    setting = SETTINGS[point.setting]
    return prepare(
        setting.workload(point.queries),
        events,
        engine="local",
        strategy=point.strategy,
        numeric=setting.numeric,
        lateness=0,
        time_unit=setting.time_unit,
    )


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
