"""Live streams: a workload over an unbounded stream of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from fractions import Fraction
from os import PathLike
from pathlib import Path
from time import sleep
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import pyarrow as pa

from elsinore.api import NUMERICS, chosen_settings
from elsinore.connectors.live_sinks import Callback, LiveSink, open_live_sink
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of, mixed_columns, table
from elsinore.errors import FailedError, InputError
from elsinore.extras import needing_cluster
from elsinore.inputs import check_known, checked, seconds
from elsinore.workloads import text_of

if TYPE_CHECKING:
    from elsinore.actors.rows.rows import Rows
    from elsinore.cluster.stream.live import Live, LiveMetrics, Write
    from elsinore.cluster.stream.terms import Terms

MAX_TRIES = 5
"""Attempts to write a batch to a sink before the stream fails."""

PAUSE_SECONDS = 0.2
"""Seconds to wait after the first failed attempt; each further pause is twice as long."""


State = Literal["waiting", "running", "stopped", "failed"]

_STATES = {"waiting": "waiting for the first file, ", "running": "", "stopped": "stopped, ", "failed": "failed, "}


class LiveStream:
    """A workload that runs over a stream in the background until it is stopped.

    As a context manager, it stops the stream at the end of the block.
    """

    __module__ = "elsinore"

    def __init__(self, live: Live) -> None:
        self._live = live

    @property
    def metrics(self) -> LiveMetrics:
        """Return the counts so far: events, rows, batches and others."""
        return self._live.metrics

    @property
    def state(self) -> State:
        """Return "waiting" while its folder has no file yet, then "running", and in the end "stopped" or "failed".

        After a failure, `wait` raises the error.
        """
        if self._live.ended:
            return "stopped" if self._live.error is None else "failed"
        return "waiting" if self._live.waiting else "running"

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the stream ends, at most `seconds`; return whether it has. Raise the error if it failed."""
        return self._live.wait(seconds)

    def stop(self) -> None:
        """Stop the stream after the current batch. A stream started with the same checkpoint resumes there."""
        self._live.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self.stop()
        if kind is None:
            self.wait()

    def __repr__(self) -> str:
        metrics, state = self.metrics, _STATES[self.state]
        return f"<LiveStream: {state}{metrics.events:,} events, {metrics.rows:,} rows, {metrics.batches:,} batches>"


def stream(
    workload: str | PathLike[str],
    source: Any,
    sink: str | PathLike[str] | Callback,
    *,
    checkpoint: str | PathLike[str],
    strategy: str = "auto",
    numeric: Literal["exact", "approximate"] = "exact",
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
    lateness: float | Fraction | timedelta = 0,
    dead_letters: str | PathLike[str] | None = None,
    **settings: Any,
) -> LiveStream:
    """Run a workload over an unbounded stream of events, on Spark and Ray; rows are written as windows close.

    `source` is a folder in which Parquet, JSON lines or CSV files appear, a streaming DataFrame, or a function that
    makes one from a SparkSession. The columns of a folder are those of its first file: while it has no file, the stream
    waits for one in the background, and `wait` raises any problem with its columns.

    `sink` is a folder whose name ends in .parquet, .jsonl or .csv, a Delta table (.delta), `-` for stdout, or a
    function of rows (an Arrow table) and the number of their batch. A function of three arguments is given a batch in
    pieces, so that many matches fill no memory, and last the number of the piece, which counts from 0 in each batch.

    Events may be late by `lateness`. Later events, and events that cannot be read, are counted, and written to the
    folder `dead_letters`, if there is one, each with the reason.

    The state is saved at `checkpoint`, a folder or any address that fsspec supports. A stream that is started again
    with the same checkpoint resumes where the last one ended, even after a crash: no row is missing, and none is
    written twice (a function may be called twice with one batch; pieces then begin with 0 again, and replace those that
    it had). It may resume with other queries, which then answer the windows that begin after the latest event, and with
    another number of `actors`.
    """
    with needing_cluster("a live stream"):
        from elsinore.cluster.stream.checkpoint import last_done
        from elsinore.cluster.stream.live import Live, StreamRequest
        from elsinore.connectors.spark.streams import check_folder, open_stream
    from elsinore.planner.checks.check import check_attributes
    from elsinore.planner.plans.planning import STRATEGIES
    from elsinore.planner.plans.strategies import check_strategy

    if settings.pop("engine", "ray") == "local":
        raise InputError("a live stream needs Spark and Ray: leave out engine, or write engine='ray'")
    chosen = chosen_settings("ray", settings)
    check_known("numeric", numeric, NUMERICS)
    check_known("strategy", strategy, STRATEGIES)
    letters = None if dead_letters is None else Path(dead_letters)
    asked = StreamRequest(text_of(workload), strategy, numeric, seconds(lateness), letters)
    queries = checked(workload)
    open_live_sink(sink, columns_of(queries), "")
    check_strategy(queries, strategy)
    if isinstance(source, str | Path):
        check_folder(Path(source))
    resumed = last_done(str(checkpoint)).number > 0

    def opened(spark: Any) -> Any:
        found = open_stream(
            spark,
            source,
            type_column=type_column,
            time_column=time_column,
            time_unit=time_unit,
            files_at_once=chosen.files_at_once,
        )
        if found is not None:
            check_attributes(queries, dict.fromkeys(queries.types, found.attributes))
        return found

    def writer(terms: Terms) -> Write:
        nonlocal resumed
        now = checked(terms.workload)
        columns = columns_of(now)
        to = open_live_sink(sink, columns, f"elsinore-{terms.stream}", resumed, mixed_columns(now))
        resumed = True
        approximate = terms.numeric == "approximate"

        def shown(rows: Iterable[Rows]) -> pa.Table:
            found = answers(rows, columns, terms.clock)
            return table(found.values(), columns, bounds_type(terms.clock), approximate)

        def write(batch: int, parts: Iterable[list[Rows]]) -> None:
            _write(to, batch, _Tables(parts, shown, to.takes_parts))

        return write

    return LiveStream(Live(asked, opened, writer, str(checkpoint), chosen))


class _Tables:
    """The rows of a batch as tables, which a sink may iterate again; one table unless they come in parts."""

    def __init__(self, parts: Iterable[list[Rows]], shown: Callable[[Iterable[Rows]], pa.Table], apart: bool) -> None:
        self._parts, self._shown, self._apart = parts, shown, apart
        self.error: Exception | None = None
        """The error of the stream that ended them, which is none of the sink."""

    def __iter__(self) -> Iterator[pa.Table]:
        try:
            if self._apart:
                yield from map(self._shown, self._parts)
            else:
                yield self._shown([rows for part in self._parts for rows in part])
        except Exception as error:
            self.error = error
            raise


def _write(sink: LiveSink, batch: int, tables: _Tables) -> None:
    """Write a batch to the sink, retrying after failures of the sink other than InputError."""
    for attempt in range(MAX_TRIES):
        try:
            sink.write(batch, tables)
        except InputError:
            raise
        except Exception as error:
            if error is tables.error:
                raise
            if attempt == MAX_TRIES - 1:
                raise FailedError(
                    f"the sink failed {MAX_TRIES} times to write batch {batch}: {error}. Fix the cause, and start "
                    "again with the same checkpoint: nothing is lost"
                ) from error
            sleep(PAUSE_SECONDS * 2**attempt)
        else:
            return
