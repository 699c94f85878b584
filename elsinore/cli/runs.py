"""The implementation of `elsinore run` and `elsinore stream`, behind their options."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.calendar_years import rows_as_python
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of, table
from elsinore.connectors.sinks import open_sink
from elsinore.errors import InputError
from elsinore.progress import bar, live_line

if TYPE_CHECKING:
    from elsinore.actors.rows.rows import Rows
    from elsinore.api import PreparedRun
    from elsinore.cluster.run.local import Metrics
    from elsinore.live import LiveStream

BATCH_ROWS = 1 << 12
"""Rows to collect before writing them, in order; the output too may be larger than memory."""


def answer(job: PreparedRun, out: str, approximate: bool) -> str:
    """Run a job, write its rows, and return its summary."""
    started = perf_counter()
    with open_sink(out, columns_of(job.workload)) as sink, bar(job, _bar_has_room(out)):
        for part in _parts(job, approximate):
            sink.write(part)
    line = summary(job.run.metrics, perf_counter() - started)
    return f"{line}\n{job.choice}" if job.choice.reason else line


def wait_for_end(live: LiveStream, folder: Path) -> str:
    """Wait until the stream ends, or until Ctrl-C or SIGTERM stops it, and return its summary."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    started = perf_counter()
    try:
        if live.state == "waiting":
            sys.stderr.write(f"waiting for the first file in {folder}\n")
            sys.stderr.flush()
        with live_line(live, sys.stderr.isatty()):
            while not live.wait(1):
                pass
    except KeyboardInterrupt:
        live.stop()
    line = summary(live.metrics, perf_counter() - started)
    return f"{line}\nStopped; it resumes from here when it is started again with the same checkpoint."


DECISIONS = (".parquet", ".jsonl")


def check_decisions(path: Path) -> None:
    if path.suffix.lower() not in DECISIONS:
        raise InputError(f"{path}: the file name must end in {' or '.join(DECISIONS)}.")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; create it first")


def write_decisions(job: PreparedRun, path: Path) -> None:
    """Write the recorded decisions of a finished job to a file."""
    found = job.run.decisions
    if path.suffix.lower() == ".parquet":
        pq.write_table(found, path)
    else:
        path.write_text("".join(f"{json.dumps(row, default=str)}\n" for row in rows_as_python(found)))


def summary(metrics: Metrics, seconds: float) -> str:
    """Return one line of counts, and a hint for each kind of event that counts in no row."""
    counts = [f"{getattr(metrics, name):,} {name}" for name in ("events", "rows", "late", "dead", "dropped")]
    lines = [f"{', '.join(counts)}; {seconds:.1f} s, {metrics.events / seconds:,.0f} events/s"]
    if metrics.bursts:
        lines.append(f"{metrics.shared_bursts:,} of {metrics.bursts:,} bursts shared, {metrics.snapshots:,} snapshots")
    if metrics.late:
        lines.append("Late events count in no row; with --lateness SECONDS, windows wait for them.")
    if metrics.dead:
        lines.append("Dead events could not be read; --dead-letters FILE records the reasons.")
    if metrics.dropped:
        lines.append("Dropped events had no value in an attribute of GROUP-BY or [...], so they are in no trend.")
    return "\n".join(lines)


def _bar_has_room(out: str) -> bool:
    """Return whether to show a bar: stderr is a terminal, and rows are not printed on the same terminal."""
    return sys.stderr.isatty() and not (out == "-" and sys.stdout.isatty())


def _parts(job: PreparedRun, approximate: bool) -> Iterator[pa.Table]:
    columns = columns_of(job.workload)
    for some in _some(job):
        clock = job.run.clock
        yield table(answers(some, columns, clock).values(), columns, bounds_type(clock), approximate)


def _some(job: PreparedRun) -> Iterator[list[Rows]]:
    waiting: list[Rows] = []
    for rows in job:
        waiting.append(rows)
        if sum(map(len, waiting)) >= BATCH_ROWS:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
