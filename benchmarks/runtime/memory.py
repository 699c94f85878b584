"""The memory of a run over a long Parquet file, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

from benchmarks.figures import Figure
from benchmarks.papers.type_grained import HALF_HOURS, query
from benchmarks.streams import part

ROWS = 1_000_000
"""Number of events that are made at once, as one row group."""

MIB, GIB = 1 << 20, 1 << 30

STREAMED = """
import json, re, sys, time
import elsinore

begin = time.perf_counter()
result = elsinore.run(sys.argv[1], sys.argv[2], engine="local", time_unit="ms")
took = time.perf_counter() - begin
peak = int(re.search("VmHWM:\\s+([0-9]+) kB", open("/proc/self/status").read())[1])
print(json.dumps({"took": took, "events": result.metrics.events, "peak": peak * 1024}))
"""
"""The peak is the kernel's own record. `ru_maxrss` would include the process that started this one."""


def memory(events: int) -> Iterator[Figure]:
    """Yield the peak memory over ten times the events of the other benchmarks, which hold theirs in memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        write(path, 10 * events)
        words = [sys.executable, "-c", STREAMED, query(HALF_HOURS), str(path)]
        result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        size = path.stat().st_size
    assert result["events"] == 10 * events, f"{result['events']} of {10 * events} events were read"
    detail = f"{result['took']:.1f} s, {result['took'] / events * 1e8:.0f} ns an event, file {size / MIB:.0f} MiB"
    what = f"{10 * events / 1e6:g} M events from Parquet, 30 minutes, exact"
    yield Figure("memory", what, result["peak"] / GIB, 1, "GiB", detail)


def write(path: Path, events: int) -> None:
    """Write the stream of the type-grained benchmarks, but longer; times are differences, the rest are dictionaries."""
    random = np.random.default_rng(4)
    columns = {"column_encoding": {"time": "DELTA_BINARY_PACKED"}, "use_dictionary": ["type", "partition"]}
    with pq.ParquetWriter(path, part(random, 0, 1).schema, **columns) as writer:
        for first in range(0, events, ROWS):
            writer.write_table(part(random, first, min(ROWS, events - first)))
