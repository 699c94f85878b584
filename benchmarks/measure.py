"""Measurements of time: the best of several runs, so that other load on the machine counts least.

Work in this process is measured in its processor time, all threads together. On a machine that others use too, the wall
clock of the yardstick alone has been seen to double, which halves every ratio to it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from time import perf_counter, process_time
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import elsinore
from elsinore import Result

Numeric = Literal["exact", "approximate"]


def best(action: Callable[[], object], times: int = 3, clock: Callable[[], float] = process_time) -> float:
    """Return the seconds of the fastest of several runs."""
    return min(_once(action, clock) for _ in range(times))


def _once(action: Callable[[], object], clock: Callable[[], float]) -> float:
    begin = clock()
    action()
    return clock() - begin


def run(workload: str, table: pa.Table, numeric: Numeric, strategy: str = "auto") -> Result:
    return elsinore.run(workload, table, engine="local", time_unit="ms", numeric=numeric, strategy=strategy, cores=1)


def seconds(workload: str, table: pa.Table, numeric: Numeric) -> float:
    """Return the seconds of a run over a table, with kernels compiled.

    One partition alone is short, but its counts grow as large as they will: that compiles the kernels of wide numbers.
    """
    one = table.filter(pc.equal(table["partition"], 0))
    for warm in (table.slice(0, 1_000), one.slice(0, 20_000)):
        run(workload, warm, numeric)
    return best(lambda: run(workload, table, numeric))


def yardstick(table: pa.Table) -> float:
    """Return Y, the seconds of the cheapest query that a user could ask of the same events, on one thread."""
    assert pl.thread_pool_size() == 1, "Polars was imported before `benchmarks`, with all its threads"
    frame: Any = pl.from_arrow(table.select(["partition"]))
    return best(lambda: frame.group_by("partition").len(), times=7)


def command(words: Sequence[str], times: int = 5) -> float:
    """Return the wall-clock seconds of the fastest of several processes, from its start to its end."""
    return best(lambda: subprocess.run(words, check=True, capture_output=True), times, perf_counter)
