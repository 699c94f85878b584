"""Run the live stream of a job: begin it when there are events, stop it for a pause, restart it after a failure."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event, RLock, Thread
from time import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspark.sql.types as T  # noqa: N812
from ray.exceptions import RayError

from elsinore.calendar_years import as_python
from elsinore.cluster.machines.file_locks import HeldError
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.history import History
from elsinore.cluster.service.intake import forget_keys, is_last, sweep
from elsinore.cluster.service.jobs import DamagedJobError, Spec, StoredJob, paused
from elsinore.cluster.service.rows import RowsSink, forget_rows
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.refusals import STALE, RefusalError, refusal
from elsinore.cluster.stream.checkpoint import latest_of, mend
from elsinore.cluster.stream.live import Live, StreamRequest, Write
from elsinore.cluster.stream.terms import Terms
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of, table
from elsinore.connectors.spark.finished_files import finished_files, known_files, log_bytes, shorten_log
from elsinore.connectors.spark.streams import Stream, file_options
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError

if TYPE_CHECKING:
    from elsinore.actors.rows.rows import Rows

LOG = logging.getLogger("elsinore.service")

POLL_SECONDS = 0.1
"""Seconds between two polls of a job."""

STATUS_SECONDS = 0.5
"""Seconds between two writes of a job's status."""

SWEEP_SECONDS = 60.0
"""Seconds between two deletions of expired rows."""

HOUR_SECONDS = 3600

MAX_FAILURES = 5
"""Consecutive failures that a job survives; an error in its input fails it at once."""

MAX_PAUSE_SECONDS = 60.0
"""The longest pause before a restart of a stream."""

RETRY_SECONDS = 2.0
"""Pause between two polls for a damaged file that may be restored, and between two attempts to stop a stream."""

STOP_SECONDS = 45.0
"""Timeout for the current batch when a stream is stopped, and for the lock. Both together are less than the time that a
client waits for a reply of the manager (`control.REPLY_SECONDS`)."""

MAX_LOG_GROWTH_BYTES = 4 << 20
"""Bytes by which Spark's log of files may grow before the stream restarts to shorten it: about 25,000 appends."""

SPARK_TYPES: dict[str, T.DataType] = {
    "int64": T.LongType(),
    "float64": T.DoubleType(),
    "string": T.StringType(),
    "bool": T.BooleanType(),
    "timestamp": T.TimestampType(),
    "timestamp_ntz": T.TimestampNTZType(),
}


@dataclass
class JobRunner:
    """A job with its live stream and the thread that runs it.

    Mutating methods hold `_lock`; read-only properties do not.
    """

    job: StoredJob
    settings: Settings
    service: ServiceSettings
    starting: Any
    """A lock shared by all jobs, so that their streams start one after another."""
    live: Live | None = None
    error: dict[str, Any] | None = None
    failures: int = 0
    begun_with: int = 0
    pause_until: float = 0.0
    log: int = 0
    """Bytes of Spark's log of files when the stream began."""
    spec: Spec | None = None
    """The specification; None while its file is damaged."""
    last: dict[str, Any] = field(default_factory=dict)
    """The metrics that were read last."""
    types: dict[str, int] = field(default_factory=dict)
    damage: bool = False
    """Whether the error is a damaged file, which may be restored."""
    ending: bool = False
    """Whether the current stream is being stopped; no other one may begin before it has ended."""
    closing: bool = False
    """Whether the job is ending, so that no other stream will begin."""
    batches: int = -1
    done_at: float = field(default_factory=time)
    _lock: Any = field(default_factory=RLock)
    _over: Event = field(default_factory=Event)
    _cut: Event = field(default_factory=Event)
    """When set, the current or starting stream stops waiting for its actors."""
    _stopper: Thread | None = None
    """The thread that stops the current stream and waits for its end."""

    def __post_init__(self) -> None:
        self.history = History(self.job)
        before = self.job.status()
        self.last = before.get("metrics", {})
        self.types = before.get("types", {})
        self.error = before.get("error") if before.get("state") == "failed" and not before.get("damage") else None
        try:
            self._read()
        except Exception as error:  # noqa: BLE001 - this job alone has failed
            self._set_error(error)
        self._thread = Thread(target=self._run, name=f"job-{self.job.name}", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        """Read the specification and check the columns; raise DamagedJobError where a file cannot be read."""
        self.job.columns()
        self.spec = self.job.spec()

    @property
    def state(self) -> str:
        if self.error is not None or self.spec is None:
            return "failed"
        if self.spec.paused:
            return "paused"
        if self.live is None or self.ending:
            return "recovering" if self.failures or self.ending or self._begun_before else "waiting"
        return "running" if self.live.metrics.batches else "waiting"

    @property
    def _begun_before(self) -> bool:
        return bool(self.last.get("batches"))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock; raise FailedError after a timeout, because a stream may take long to begin."""
        if not self._lock.acquire(timeout=STOP_SECONDS):
            raise FailedError(f"the stream of {self.job.name} is starting or stopping; try again in a moment")
        try:
            yield
        finally:
            self._lock.release()

    def pause(self) -> None:
        with self._locked():
            self._put(paused(self._spec_or_read(), True))
            stopped = self._stop(STOP_SECONDS)
            self._happened("paused", "by request")
            self.write_status()
        if not stopped:
            raise self._still_busy("it is paused after this batch")
        LOG.info("job paused", extra={"job": self.job.name})

    def resume(self) -> None:
        """Resume a job that is paused or has failed."""
        with self._locked():
            if self.damage:
                self._read()
            self._put(paused(self._spec_or_read(), False))
            self.error, self.damage, self.closing = None, False, False
            self.failures, self.pause_until = 0, 0.0
            self._happened("resumed", "by request")
            self.write_status()
        LOG.info("job resumed", extra={"job": self.job.name})

    def _spec_or_read(self) -> Spec:
        if self.spec is None:
            self._read()
        assert self.spec is not None
        return self.spec

    def _still_busy(self, what: str) -> FailedError:
        return FailedError(
            f"the stream of {self.job.name} is still processing a batch; {what}. To end the job at once, DELETE it"
        )

    def change(self, spec: Spec, before: str) -> None:
        """Change the queries. They are on disk first, so a stream that fails during the change restarts with them.

        Raise RefusedError of the kind `stale` if the workload is not the one `before`, from which `spec` was made.
        """
        with self._locked():
            known = self._spec_or_read()
            if known.workload != before:
                raise RefusalError(409, f"the queries of {self.job.name} were changed by another request", kind=STALE)
            spec = replace(spec, paused=known.paused)
            terms = self._terms()
            if terms is not None:
                terms.changed(spec.workload, spec.strategy, terms.ranges.places)
            self._put(spec)
            self._noted(lambda: self.history.changed(before, spec.workload))
            try:
                if self.live is not None and not self.ending and not self.live.wait(0):
                    self.live.change(spec.workload)
            except Exception as error:  # noqa: BLE001 - the stream has failed, and restarts
                self._fail(error)
            self.write_status()
        LOG.info("queries changed", extra={"job": self.job.name})

    def _terms(self) -> Terms | None:
        if self.live is not None:
            return self.live.terms
        latest = latest_of(str(self.job.checkpoint))
        return Terms.read(latest.duty()) if latest else None

    def decisions(self) -> list[Any]:
        """Return the tables of decisions of each graph actor and engine."""
        return self._asked("decisions")

    def stored(self) -> list[Any]:
        """Return the tables of stored matches of each graph actor and engine."""
        return self._asked("stored")

    def _asked(self, what: str) -> list[Any]:
        live = self.live
        try:
            return [] if live is None else [part for parts in live.crew.ask(what) for part in parts]
        except RayError as error:
            raise FailedError("a graph actor has died and is being replaced; try again in a moment") from error

    def end(self, at_once: bool = False) -> None:
        """Stop the stream, after the current batch or at once, and end the thread that runs it.

        Raise FailedError where it does not stop in time; it is then still being stopped.
        """
        self.closing = True
        if at_once:
            self._cut.set()
        with self._locked():
            if not self._stop(STOP_SECONDS):
                raise self._still_busy("it stops after this batch")
            self._over.set()
        self._thread.join(5)

    def _put(self, spec: Spec) -> None:
        self.job.put_spec(spec)
        self.spec = spec

    def _stop(self, seconds: float) -> bool:
        """Stop the current stream, and return whether it has ended within this time.

        Until it has ended it stays the owner of the checkpoint, and no other stream begins.
        """
        live = self.live
        if live is None:
            return True
        self.ending = True
        if self._stopper is None:
            self._stopper = Thread(target=self._wait_for, args=(live,), name=f"stop-{self.job.name}", daemon=True)
            self._stopper.start()
        self._stopper.join(seconds)
        if self._stopper.is_alive():
            return False
        self._stopper = None
        if not _is_over(live):
            self.pause_until = time() + RETRY_SECONDS
            return False
        self._note(live)
        self.live, self.ending = None, False
        return True

    def _wait_for(self, live: Live) -> None:
        try:
            live.stop()
        except Exception as error:
            LOG.warning("the stream was not stopped", extra={"job": self.job.name}, exc_info=error)

    def _run(self) -> None:
        written_at = swept = 0.0
        while not self._over.wait(POLL_SECONDS):
            try:
                with self._lock:
                    if not self._over.is_set():
                        self._step()
                        if time() - written_at > STATUS_SECONDS:
                            self.write_status()
                            written_at = time()
                if self.service.rows_kept is not None and time() - swept > SWEEP_SECONDS:
                    forget_rows(self.job, time() - self.service.rows_kept * HOUR_SECONDS)
                    swept = time()
            except Exception as error:  # noqa: BLE001 - a failure of one job must not affect the others
                self._fail(error)

    def _step(self) -> None:
        if self.live is not None:
            if self._has_to_stop(self.live):
                self._stop(POLL_SECONDS)
        elif self.damage or self.spec is None:
            self._read_again()
        elif self._ready and self.starting.acquire(blocking=False):
            try:
                self._tidy()
                self.live = self._start_stream()
            finally:
                self.starting.release()
            self.begun_with = self.live.metrics.batches
            self._happened("started", f"it continues after batch {self.begun_with:,}" if self.begun_with else "")
            LOG.info("stream started", extra={"job": self.job.name})

    def _has_to_stop(self, live: Live) -> bool:
        if self.ending:
            return time() >= self.pause_until or self._stopper is not None
        paused_, grown = (
            self.spec is not None and self.spec.paused,
            log_bytes(self._spark) > self.log + MAX_LOG_GROWTH_BYTES,
        )
        return live.wait(0) or paused_ or grown

    def _read_again(self) -> None:
        """Read a damaged file again after a pause, and clear the error if the file has been restored."""
        if time() >= self.pause_until:
            self.pause_until = time() + RETRY_SECONDS
            try:
                self._read()
            except DamagedJobError as error:
                self._set_error(error)
            else:
                self.error, self.damage = None, False

    @property
    def _spark(self) -> Path:
        return self.job.checkpoint / "spark"

    def _tidy(self) -> None:
        """Prepare the folders of a job before its stream begins.

        Delete temporary files, events that Spark has read, and expired idempotency keys. Mend Spark's log before it is
        read, and shorten it.
        """
        sweep(self.job)
        mend(str(self.job.checkpoint))
        for path in finished_files(self._spark):
            path.unlink(missing_ok=True)
        shorten_log(self._spark, lambda path: is_last(self.job, path))
        if self.service.keys_kept is not None:
            forget_keys(self.job, time() - self.service.keys_kept * HOUR_SECONDS, known_files(self._spark))
        self.log = log_bytes(self._spark)

    @property
    def _ready(self) -> bool:
        if self.closing or self.spec is None or self.spec.paused or self.error is not None:
            return False
        if time() < self.pause_until or not self.job.columns():
            return False
        return self.job.checkpoint.exists() or any(self.job.incoming.glob("*.parquet"))

    def _fail(self, error: Exception) -> None:
        """Handle a failure: stop the stream, and restart it after a pause or fail the job.

        An error in the input fails the job at once; other errors may pass, and are retried first.
        """
        LOG.error("stream failed", extra={"job": self.job.name}, exc_info=error)
        with self._lock:
            if self.live is not None:
                if self.live.metrics.batches > self.begun_with:
                    self.failures = 0
                self._stop(POLL_SECONDS)
            self.failures += 1
            bad = isinstance(error, WorkloadError | InputError | DamagedJobError)
            # Another process owns the checkpoint: that passes, so it is retried without a limit.
            held = isinstance(error, HeldError)
            if not held and (bad or self.failures > MAX_FAILURES):
                self._set_error(error)
            pause = min(2.0**self.failures, MAX_PAUSE_SECONDS)
            if self.error is None:
                why = f"{refusal(error).detail}; attempt {self.failures + 1} begins in {pause:g} s"
                self._happened("interrupted", why)
            self.pause_until = time() + pause
            self.write_status()

    def _set_error(self, error: Exception) -> None:
        before, self.error, self.damage = self.error, refusal(error).document, isinstance(error, DamagedJobError)
        if self.error != before:
            self._happened("failed", self.error["detail"])

    def _happened(self, what: str, why: str = "") -> None:
        self._noted(lambda: self.history.note(what, why))

    def _noted(self, note: Callable[[], None]) -> None:
        """Write the history. A failure here is logged and ends nothing: the history is not relied on."""
        try:
            note()
        except Exception as error:
            LOG.warning("the history was not written", extra={"job": self.job.name}, exc_info=error)

    def _start_stream(self) -> Live:
        spec, self._cut = self._spec_or_read(), Event()
        if self.closing:
            raise FailedError(f"the job {self.job.name} is being stopped")
        request = StreamRequest(
            spec.workload, spec.strategy, spec.numeric, spec.late, remembered=self.service.decisions
        )
        settings = self.settings
        if spec.actors is not None:
            settings = settings.model_copy(update={"actors": spec.actors})
        return Live(request, self._open_stream, self._make_writer, str(self.job.checkpoint), settings, self._cut)

    def _open_stream(self, spark: Any) -> Stream:
        """Return a stream of the events in the folder `incoming`; Spark deletes files that it has taken."""
        fields = [T.StructField(name, SPARK_TYPES[kind]) for name, kind in self.job.columns().items()]
        reader = spark.readStream.format("parquet").schema(T.StructType(fields))
        options = file_options(self.settings.files_at_once) | {"parquet.page.verify-checksum.enabled": "true"}
        reader = reader.options(**options, cleanSource="delete", pathGlobFilter="*.parquet")
        spec = self._spec_or_read()
        names = Names(spec.type_column, spec.time_column)
        return Stream(reader.load(str(self.job.incoming)), names, spec.time_unit)

    def _make_writer(self, terms: Terms) -> Write:
        workload = check_text(terms.workload)
        columns, detecting = columns_of(workload), {query.name for query in workload.queries if query.detects}
        sink = RowsSink(self.job.rows, columns)
        form, approximate = bounds_type(terms.clock), terms.numeric == "approximate"

        def write(batch: int, parts: Iterable[list[Rows]]) -> None:
            some = (answers(rows, columns, terms.clock) for rows in bounded(parts, detecting, self.service.matches))
            sink.write(batch, (table(rows.values(), columns, form, approximate) for rows in some))

        return write

    def write_status(self) -> None:
        """Write the status of the job. A failure here is logged and ends nothing: the status is not relied on."""
        try:
            if self.live is not None:
                self._note(self.live)
            status = {"state": self.state, "metrics": self.last, "types": self.types, "time": time()}
            status |= {"damage": True} if self.damage else {}
            self.job.put_status(status if self.error is None else {**status, "error": self.error})
        except Exception as error:
            LOG.warning("the status was not written", extra={"job": self.job.name}, exc_info=error)

    def _note(self, live: Live) -> None:
        """Read the counters of a stream; if that fails, log it and keep those read last."""
        try:
            self._noted(lambda: self.history.watch(live))
            if live.done.number != self.batches:
                self.batches, self.done_at = live.done.number, time()
            self.last, self.types = metrics_of(live, time() - self.done_at), live.done.types
        except Exception as error:
            LOG.warning("the metrics cannot be read", extra={"job": self.job.name}, exc_info=error)


def bounded(parts: Iterable[list[Rows]], detecting: Collection[str], most: int) -> Iterator[list[Rows]]:
    """Yield the rows of a batch; raise InputError where a query has more matches than its folder is to hold."""
    counts = Counter[str]()
    for part in parts:
        for rows in part:
            counts[rows.query] += len(rows)
            if rows.query in detecting and counts[rows.query] > most:
                raise InputError(
                    f"the query {rows.query} has more than {most:,} matches in one batch, which is the limit of this "
                    "service: submit it with repetitions that are bounded by {n,m}, with skip-till-next-match or LIMIT "
                    "n, or count with RETURN COUNT(*)"
                )
        yield part


def metrics_of(live: Live, age: float) -> dict[str, Any]:
    """Return the counters of a stream, and its watermark and latest time in the form of its events."""
    metrics, done = asdict(live.metrics), live.done
    parts: dict[str, float] = metrics.pop("parts")
    del metrics["waiting"]  # the state of a job says so
    found = {
        **metrics,
        "sharing_rate": metrics["shared_bursts"] / metrics["bursts"] if metrics["bursts"] else 0.0,
        "checkpoint_age": age,
        "checkpoint_seconds": parts.get("checkpoint", 0.0),
        "watermark": None,
        "latest": None,
        "watermark_lag": 0.0,
    }
    if done.seen:
        clock = live.terms.clock
        latest, watermark = as_python(clock.show(np.array([done.latest, done.watermark])))
        found |= {"latest": _plain(latest), "watermark": _plain(watermark)}
        found["watermark_lag"] = (done.latest - done.watermark) / clock.ticks_per_second
    return found


def _is_over(live: Live) -> bool:
    """Return whether a stream has ended, by success or failure."""
    try:
        return live.wait(0)
    except Exception:  # noqa: BLE001 - it raises what the stream failed over
        return True


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value
