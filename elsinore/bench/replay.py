"""Measurement of latency, throughput and memory by replaying a stream."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.rows.rows import Rows
from elsinore.actors.streams.statistics import StreamStatistics
from elsinore.api import prepare
from elsinore.bench.points import REPETITION, Metrics, Point, repeated
from elsinore.bench.setting import Setting
from elsinore.bench.settings import SETTINGS
from elsinore.cluster.run.local import LocalRun
from elsinore.planner.costs.drift import Observed
from elsinore.planner.kernels.interpreted import compile_always
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock

PIECES_PER_PANE = 10
"""Pieces in which a pane is fed."""

SOONEST_SECONDS = 1e-6
"""The least processor time of a run: the clock of some machines does not move within a very short one."""

WARM_EVENTS = 1_000
"""Events of the warm-up run."""

WARM_QUERIES = 2
"""Queries of the warm-up point: enough to compile all kernels, and fewer than in any figure."""

DEFINITIONS = {
    "latency": (
        "Seconds from the arrival of the event that ends a window, the first one behind it, to the rows of the window, "
        "averaged over all windows of all queries. Events arrive at their rate on a clock of their own; what each "
        "piece of the stream costs (processor time of one core) is added to that clock, and a piece waits for those "
        f"before it. A pane is fed in {PIECES_PER_PANE} pieces, and the event that begins the next one by itself."
    ),
    "throughput": "Events a second: the events of the stream over the processor time of feeding it to all queries.",
    "memory": (
        "Bytes: the peak of the process's resident memory during a run over the stream, less what was resident before "
        "it, kernels loaded and events in memory."
    ),
    "snapshots": "How many graphlets and sharing plans made.",
    "spent": "Seconds of processor time of feeding the stream, all rows made.",
    "repetition": REPETITION,
}


Ints = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """A part of a stream that is fed at once."""

    begin: int
    end: int
    arrived: float
    """When its last event arrives, in seconds."""


@dataclass(frozen=True)
class Run(Point):
    """A run of a strategy over a stream."""

    rate: int
    """Events per minute."""
    minutes: float
    """Length of the stream."""

    limit: ClassVar = 120.0
    definitions: ClassVar = DEFINITIONS

    @property
    def what(self) -> str:
        return SETTINGS[self.setting].what

    @property
    def workload(self) -> str:
        return SETTINGS[self.setting].workload(self.queries)

    def events(self) -> pa.Table:
        return SETTINGS[self.setting].events(round(self.rate * self.minutes), self.rate)

    def planned(self, usual: Plan, seen: Observed) -> Plan:
        """Return the plan to run, given the usual one and the statistics of the stream."""
        return usual

    def begun(self, run: LocalRun) -> None:
        """Prepare a run before its first event."""

    def pieces(self, times: Ints, pane: int) -> Iterator[Piece]:
        """Yield the pieces of the stream: parts of a pane, and the first event of each pane, which closes windows."""
        new_piece = np.flatnonzero(np.diff(times * PIECES_PER_PANE // pane)) + 1
        new_pane = np.flatnonzero(np.diff(times // pane)) + 1
        cuts = np.unique(np.concatenate([[0], new_piece, new_pane, new_pane + 1, [len(times)]]))
        for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            yield Piece(begin, end, end * 60 / self.rate)

    def noted(self, run: LocalRun) -> Metrics:
        """Return further metrics of a finished run."""
        return {}

    def measured(self) -> Metrics:
        events = self.events()
        replay(self, events.slice(0, WARM_EVENTS))
        runs = repeated(partial(replay, self, events), "spent")
        return min(runs, key=lambda run: run["spent"]) | {"memory": runs[0]["memory"]}

    @staticmethod
    def remark(measured: Sequence[Metrics]) -> str:
        """Return the extent of sharing over the points that share."""
        some = [metrics for metrics in measured if metrics.get("bursts")]
        if not some:
            return ""
        shared = [100 * metrics["shared_bursts"] / metrics["bursts"] for metrics in some]
        snapshots = [metrics["snapshots"] for metrics in some]
        deciding = max(100 * metrics["decision_seconds"] / metrics["spent"] for metrics in some)
        return (
            f"{min(shared):.0f}% to {max(shared):.0f}% of bursts shared, {min(snapshots):,} to {max(snapshots):,} "
            f"snapshots, decisions at most {deciding:.2g}% of the time"
        )

    def brief(self, share: float) -> Self:
        """Return the point with a part of the stream, at least a pane."""
        return replace(self, minutes=max(SETTINGS[self.setting].pane, self.minutes * share))

    def first(self) -> Self:
        """Return a small point that compiles the kernels on a new machine."""
        return replace(self, queries=WARM_QUERIES)


@dataclass
class StopWatch:
    """The sums of costs of a stream's pieces, on a simulated clock on which the pieces arrive at their rate."""

    spent: float = 0.0
    """Seconds of processor time for all pieces and rows."""
    now: float = 0.0
    windows: int = 0
    late: float = 0.0
    """Seconds of latency, summed over windows."""
    rows: int = 0
    found: list[Rows] = field(default_factory=list)
    """Rows of the current piece."""

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
    """A source that yields a stream piece by piece, and times the processing of each piece."""

    batch: pa.RecordBatch
    point: Run
    setting: Setting
    form: pa.DataType
    watch: StopWatch
    dead: int = 0

    @property
    def time_unit(self) -> str:
        return self.setting.time_unit

    def bury_late(self, events: pa.RecordBatch, clock: Clock) -> None:
        """Do nothing: the events are in order, so none is late."""

    def batches(self, clock: Clock, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
        pane = round(self.setting.pane * 60 * clock.ticks_per_second)
        for begin, end, arrived in self.point.pieces(self.batch.column(1).to_numpy(), pane):
            self.watch.start(arrived)
            yield self.batch.slice(begin, end - begin)
            self.watch.stop()
        self.watch.start(len(self.batch) * 60 / self.point.rate)


def replay(point: Run, events: pa.Table) -> Metrics:
    """Replay a stream once, and return the metrics."""
    compile_always()
    setting, watch = SETTINGS[point.setting], StopWatch()
    job = prepare(
        point.workload,
        events,
        engine="local",
        strategy=point.strategy,
        numeric=setting.numeric,
        lateness=0,
        time_unit=setting.time_unit,
    )
    batches = job.run.source.batches(job.run.clock, job.run.plan.columns)
    (batch,) = pa.Table.from_batches(list(batches)).combine_chunks().to_batches()
    pieces = Pieces(batch, point, setting, job.run.source.form, watch)
    run = LocalRun(point.planned(job.run.plan, _seen(batch, job.run.clock)), pieces, numeric=setting.numeric)
    point.begun(run)
    before = memory_before()
    for rows in run:
        watch.found.append(rows)
    watch.stop()
    peak = status("VmHWM")
    return {
        "latency": watch.late / watch.windows if watch.windows else None,
        "throughput": len(events) / max(watch.spent, SOONEST_SECONDS),
        "memory": None if before is None or peak is None else max(peak - before, 0),
        "spent": watch.spent,
        "rows": watch.rows,
        "bursts": run.metrics.bursts,
        "shared_bursts": run.metrics.shared_bursts,
        "snapshots": run.metrics.snapshots,
        "decision_seconds": run.metrics.decision_seconds,
    } | point.noted(run)


def _seen(batch: pa.RecordBatch, clock: Clock) -> Observed:
    statistics = StreamStatistics(clock)
    statistics.note(batch.column(0), batch.column(1))
    seen = statistics.read_and_reset()
    assert seen is not None
    return seen


def _windows(rows: Rows) -> int:
    return len(np.unique(np.column_stack([rows.window_start, rows.window_end]), axis=0))


def memory_before() -> int | None:
    """Release free memory, reset the peak, and return the bytes that are resident."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # only the C library of Linux has malloc_trim
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(name: str) -> int | None:
    """Return a size from /proc/self/status in bytes; None on a system without /proc."""
    with suppress(OSError):
        found = re.search(rf"{name}:\s+([0-9]+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) * 1024
    return None
