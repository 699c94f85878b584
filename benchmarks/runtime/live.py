"""A live stream at a steady rate: the time from the last event of a window to its rows, and the growth of memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep, time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import elsinore
from benchmarks.figures import Figure
from benchmarks.runtime.processes import live_heaps, memory
from elsinore.bench.hamlet.workloads import KLEENE, OTHERS, shared_kleene

RATE, HIGH_RATE = 50_000, 200_000
"""Events a second; the higher rate is about half of what a live stream on two cores sustains."""

EVERY = 0.1
"""Seconds between two files."""

PARTITIONS = 1_000
QUERIES = 10
WINDOW = 0.5
LIMITS = {50: 0.35, 99: 0.7}
"""Accepted seconds of latency, by percentile."""
WARM, MEASURED = 30, 90
"""Seconds of warm-up, and of measurement."""

MINUTES = (1, 5, 10)
OURS, JAVA = ("graph actors", "collector", "driver"), ("Spark executors", "Spark driver")
MIB = 1 << 20


@dataclass
class Feed:
    """A writer of files of events into a folder, at a steady rate; the times of events are the clock's, in ms."""

    folder: Path
    rate: int = RATE
    """Events a second."""
    put: list[tuple[int, float]] = field(default_factory=list)
    """For each file, the time of its last event, and the moment at which the file was there."""
    _over: Event = field(default_factory=Event)

    def __enter__(self) -> Feed:
        self._write(0)
        self._thread = Thread(target=self._go, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        begin, number = perf_counter(), 1
        while not self._over.wait(max(0.0, begin + number * EVERY - perf_counter())):
            self._write(number)
            number += 1

    def _write(self, number: int) -> None:
        count = int(self.rate * EVERY)
        random = np.random.default_rng(number)
        now = time()
        names = (KLEENE, *OTHERS)
        codes = np.where(random.random(count) < 0.9, 0, random.integers(1, len(names), count)).astype(np.int32)
        times = np.sort(((now - EVERY) * 1000 + np.arange(count) * (EVERY * 1000 / count)).astype(np.int64))
        kinds = pa.array(np.array(names, object)[codes], pa.string())
        table = pa.table({"type": kinds, "time": times, "partition": random.integers(0, PARTITIONS, count)})
        draft = self.folder / f".{number:08}"
        pq.write_table(table, draft, compression="none")
        draft.rename(self.folder / f"{number:08}.parquet")
        self.put.append((int(times[-1]), time()))

    def closed(self, window_end: int) -> float:
        """Return the moment at which the event that ended a window was there."""
        return next(moment for last, moment in self.put if last >= window_end)


def latency(_events: int) -> Iterator[Figure]:
    """Yield the time from the arrival of the event that ends a window to the arrival of its rows in the sink."""
    low, detail = _latencies(RATE)
    for percent, limit in LIMITS.items():
        what = f"{RATE:,} events/s, {QUERIES} queries: last event in to rows out, p{percent}"
        yield Figure(f"latency-p{percent}", what, low[percent], limit, "s", detail)
    high, detail = _latencies(HIGH_RATE)
    for percent in LIMITS:
        what = f"{HIGH_RATE:,} events/s to {RATE:,}: p{percent}"
        yield Figure(f"latency-high-p{percent}", what, high[percent] / low[percent], 2, "times", detail)


def _latencies(rate: int) -> tuple[dict[int, float], str]:
    """Return the seconds of latency by percentile at a rate of events, and where they went."""
    out: list[tuple[int, float]] = []

    def sink(rows: pa.Table, _batch: int) -> None:
        now = time()
        out.extend((end, now) for end in set(rows["window_end"].to_pylist()))

    with TemporaryDirectory() as folder, Feed(_made(folder, "in"), rate) as feed, _stream(folder, sink) as live:
        live.wait(WARM)
        begin, before = len(out), (live.metrics.batches, dict(live.metrics.parts))
        live.wait(MEASURED)
        found = [moment - feed.closed(end) for end, moment in out[begin:]]
        batches = live.metrics.batches - before[0]
        parts = {name: (cost - before[1].get(name, 0.0)) / batches for name, cost in live.metrics.parts.items()}
    steps = ", ".join(f"{name} {1000 * cost:.0f} ms" for name, cost in parts.items())
    detail = f"{len(found)} windows, {batches} batches of {MEASURED / batches:.2f} s: {steps}"
    return {percent: float(np.percentile(found, percent)) for percent in LIMITS}, detail


def growth(_events: int) -> Iterator[Figure]:
    """Yield the growth of each process's memory over 1, 5 and 10 minutes; of Java's, only reachable objects count."""
    with TemporaryDirectory() as folder, Feed(_made(folder, "in")), _stream(folder, lambda _rows, _batch: None) as live:
        found: dict[int, Counter[str]] = {}
        for minute in range(1, MINUTES[-1] + 1):
            live.wait(60)
            if minute in MINUTES:
                found[minute] = _sampled()
    for role in (*OURS, *JAVA):
        detail = ", ".join(f"{minute} min {found[minute][role] / MIB:,.0f} MiB" for minute in MINUTES)
        ratio = max(found[minute][role] for minute in MINUTES[1:]) / found[MINUTES[0]][role]
        name = f"growth-{role.replace(' ', '-').lower()}"
        yield Figure(name, f"memory of a live stream, {role}", ratio, 1.05, "times", detail)


def _sampled() -> Counter[str]:
    """Return the most memory of a few moments, because memory goes up and down."""
    moments = []
    for _ in range(10):
        sleep(0.3)
        moments.append(memory())
    heaps = live_heaps()
    return Counter({role: max(one[role] for one in moments) for role in OURS} | {role: heaps[role] for role in JAVA})


def _made(folder: str, name: str) -> Path:
    path = Path(folder) / name
    path.mkdir()
    return path


def _stream(folder: str, sink: Any) -> elsinore.LiveStream:
    length = f"{round(WINDOW * 1000)} ms"
    workload = shared_kleene(QUERIES, f"WHERE [partition] WITHIN {length} SLIDE {length}")
    # Each run has a checkpoint of its own, on the disk: an event is safe before it is counted.
    return elsinore.stream(
        workload,
        Path(folder) / "in",
        sink,
        checkpoint=Path(folder) / "checkpoint",
        time_unit="ms",
        numeric="exact",
    )
