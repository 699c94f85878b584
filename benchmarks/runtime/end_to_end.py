"""The runs that people have: the board from Parquet to Parquet, and the same events as files of a live stream."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import Figure
from benchmarks.runtime.spark_and_ray import run
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import settings
from elsinore.connectors.ridesharing import write
from loadtest.embedded import rate
from loadtest.stream import BATCH, WORKLOAD, appends

BOARD = Path("examples/board/workload.elsinore")

BOARD_COLUMNS = ("type", "time", "district", "driver", "rider", "speed", "duration")
"""The columns that the board's queries read."""

TIMES = 4
"""Number of runs, of which the fastest counts: in the first, Java compiles what it executes often."""


def end_to_end(events: int) -> Iterator[Figure]:
    """Yield the time of the board to Spark's own read, and the rate of a live stream to that of a bounded run."""
    with TemporaryDirectory() as folder:
        yield _board(Path(folder), events)
        yield _live(Path(folder), events // 2)


def _board(folder: Path, events: int) -> Figure:
    path = folder / "rides.parquet"
    write(path, events, seed=1)
    workload = BOARD.read_text()
    spark = session(settings(engine="ray")).spark
    read, took = [], []
    for _ in range(TIMES):
        begin = perf_counter()
        spark.read.parquet(str(path)).select(*BOARD_COLUMNS).write.format("noop").mode("overwrite").save()
        read.append(perf_counter() - begin)
        begin = perf_counter()
        run(workload, path, time_unit="s")
        took.append(perf_counter() - begin)
    what = f"board, {events / 1e6:g} M events, Parquet to Parquet, to Spark's read of its columns"
    return Figure("board-to-read", what, min(took) / min(read), 5, "times", f"{min(took):.2f} s to {min(read):.2f} s")


def _live(folder: Path, events: int) -> Figure:
    """Return the rate of a live stream to that of a bounded run over the same events, for the load test's queries."""
    path = folder / "appends.parquet"
    pq.write_table(pa.concat_tables(islice(appends(0), -(-events // BATCH))), path, row_group_size=1 << 18)
    took = []
    for _ in range(TIMES):
        begin = perf_counter()
        taken = run(WORKLOAD, path, time_unit="s").events
        took.append(perf_counter() - begin)
    bounded, live = taken / min(took), rate(events, folder / "live")
    detail = f"{live / 1e6:.2f} M to {bounded / 1e6:.2f} M events/s"
    what = f"load test's queries, {events / 1e6:g} M events: live stream to bounded run"
    return Figure("live-to-bounded", what, live / bounded, 0.7, "times", detail, at_least=True)
