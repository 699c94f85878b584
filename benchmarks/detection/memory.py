"""The memory of runs and streams that find many matches and write them to files.

`python -m benchmarks.detection.memory [local] [ray] [stream]` prints the peak memory over the same events, with so many
matches and with 100 times as many. On Ray it is the private memory of processes: the object store, which they share,
has a size that is set.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

import elsinore
from benchmarks.detection.matches import TYPES, stream
from benchmarks.runtime.processes import private_memory
from elsinore.connectors.sinks import ParquetSink

EVENTS = 200_000
WINDOW_SECONDS = 33
"""A window with a quarter of a match an event. One that is 10 times as long has 100 times the matches."""

MIB = 1 << 20
POLL_SECONDS = 0.1
PAUSE_SECONDS = 1.0
"""Time that a slow sink takes for each part of the rows."""

COMMAND = """
import re, sys
from elsinore.cli import main

try:
    main()
finally:
    print(re.search("VmHWM:\\\\s+([0-9]+) kB", open("/proc/self/status").read())[1], file=sys.stderr)
"""
"""The peak is the kernel's own record. `ru_maxrss` would include the process that started this one."""


def query(factor: int) -> str:
    """Return a query whose window is `factor` times as long."""
    return f"RETURN MATCHES A.v, C.v PATTERN SEQ(A, B, C) WITHIN {factor * WINDOW_SECONDS} seconds"


def write_events(path: Path) -> None:
    codes, times, values = stream(EVENTS)
    names = pa.array([chr(ord("A") + code) for code in range(TYPES)])
    types = pa.DictionaryArray.from_arrays(pa.array(codes), names).dictionary_decode()
    pq.write_table(pa.table({"type": types, "time": times, "v": values}), path)


def local(folder: Path, factor: int) -> str:
    """Run in one process, as `elsinore run` does."""
    (folder / "workload").write_text(query(factor))
    files = folder / "workload", "--events", folder / "events.parquet", "--out", folder / "rows.parquet"
    words = ["run", *map(str, files), "--engine", "local", "--time-unit", "ms"]
    begin = perf_counter()
    told = subprocess.run([sys.executable, "-c", COMMAND, *words], check=True, capture_output=True, text=True).stderr
    peak = int(told.splitlines()[-1]) / 1024
    rows = pq.ParquetFile(folder / "rows.parquet").metadata.num_rows
    return f"{rows:10,} matches, peak {peak:6.0f} MiB, {perf_counter() - begin:5.1f} s"


def ray(folder: Path, factor: int) -> str:
    """Run on Spark and Ray, and write the rows as `elsinore run` does."""
    from elsinore.api import prepare
    from elsinore.cli.runs import answer

    settings = {"slice_events": EVENTS // 4}
    with sampled() as peaks:
        begin = perf_counter()
        job = prepare(
            query(factor),
            folder / "events.parquet",
            engine="ray",
            strategy="auto",
            numeric="exact",
            lateness=0,
            time_unit="ms",
            settings=settings,
        )
        answer(job, str(folder / "rows.parquet"), approximate=False)
        took = perf_counter() - begin
    return f"{job.run.metrics.rows:10,} matches, {shown(peaks)}, {took:5.1f} s"


def slow_stream(folder: Path, factor: int) -> str:
    """Run a live stream whose sink takes its time for each part, and report how far the watermark was held back."""
    with TemporaryDirectory() as work, patch.object(ParquetSink, "write", slowed(ParquetSink.write)):
        incoming = Path(work) / "in"
        incoming.mkdir()
        (incoming / "events.parquet").write_bytes((folder / "events.parquet").read_bytes())
        begin = perf_counter()
        with (
            sampled() as peaks,
            elsinore.stream(
                query(factor), incoming, f"{work}/rows.parquet", checkpoint=f"{work}/checkpoint", time_unit="ms"
            ) as live,
        ):
            most = 0
            while live.metrics.batches < 1:
                live.wait(POLL_SECONDS)
                most = max(most, live.metrics.unfinished_rows)
    return (
        f"{live.metrics.rows:10,} matches, {shown(peaks)}, {perf_counter() - begin:5.1f} s; "
        f"{most:,} unfinished rows were seen"
    )


def slowed(write: Any) -> Any:
    def slow(sink: ParquetSink, rows: pa.Table) -> None:
        sleep(PAUSE_SECONDS)
        write(sink, rows)

    return slow


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Sample the private memory of this process and all that it started, by role, and keep the largest of each."""
    peaks: Counter[str] = Counter()
    over = Event()

    def sample() -> None:
        while not over.wait(POLL_SECONDS):
            for role, size in private_memory().items():
                peaks[role] = max(peaks[role], size)

    thread = Thread(target=sample)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def shown(peaks: Counter[str]) -> str:
    ours = {role: size for role, size in peaks.items() if role in ("driver", "graph actors", "collector")}
    return ", ".join(f"{role} {size / MIB:,.0f} MiB" for role, size in sorted(ours.items()))


WAYS = {"local": local, "ray": ray, "stream": slow_stream}


def main() -> None:
    with TemporaryDirectory() as folder:
        write_events(Path(folder) / "events.parquet")
        for name in sys.argv[1:] or WAYS:
            for factor in (1, 10):
                print(f"{name:7} {WAYS[name](Path(folder), factor)}", flush=True)


if __name__ == "__main__":
    main()
