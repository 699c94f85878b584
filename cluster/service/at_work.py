"""A job at work: its live stream, begun when there are events, ended when it is paused, begun again when it fails."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, RLock, Thread
from time import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspark.sql.types as T  # noqa: N812
from ray.exceptions import RayError

from cluster.checkpoint import latest_of, mend
from cluster.live import Asked, Live, Write
from cluster.service.intake import forget_keys, is_last, sweep
from cluster.service.jobs import Job, Spec, paused
from cluster.service.refusals import refusal
from cluster.service.rows import RowsSink, forget_rows
from cluster.service.settings import ServiceSettings
from cluster.settings import Settings
from cluster.terms import Terms
from connectors.errors import FailedError, InputError
from connectors.feed import Names
from connectors.spark.streams import Stream, file_options
from connectors.spark.taken import log_bytes, seen, shorten, taken
from elsinore.tables import answers, columns_of, form_of, table
from planner.check import check_text
from planner.errors import WorkloadError

if TYPE_CHECKING:
    from actors.rows import Rows

LOG = logging.getLogger("elsinore.service")

LOOK = 0.1
"""Seconds between two looks at a job that has no events yet."""

TOLD = 0.5
"""Seconds between two words on how far it is."""

SWEEP = 60.0
"""Seconds between two looks for rows whose time is over."""

HOUR = 3600

TRIES = 5
"""Times that a stream may fail, one after another, over what is nobody's fault."""

LONG = 4 << 20
"""Bytes by which Spark's log of files may grow before it is shortened: those of about 25,000 appends."""

SPARK: dict[str, T.DataType] = {
    "int64": T.LongType(),
    "float64": T.DoubleType(),
    "string": T.StringType(),
    "bool": T.BooleanType(),
    "timestamp": T.TimestampType(),
    "timestamp_ntz": T.TimestampNTZType(),
}


@dataclass
class AtWork:
    """Everything is done under one lock but what only looks."""

    job: Job
    settings: Settings
    service: ServiceSettings
    starting: Any
    """Streams begin one after another."""
    live: Live | None = None
    error: dict[str, Any] | None = None
    failures: int = 0
    begun_with: int = 0
    pause_until: float = 0.0
    log: int = 0
    """Bytes of Spark's log of files when the stream began."""
    last: dict[str, Any] = field(default_factory=dict)
    """The metrics that were known last."""
    batches: int = -1
    done_at: float = field(default_factory=time)
    _lock: Any = field(default_factory=RLock)
    _over: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.spec = self.job.spec()
        before = self.job.status()
        self.last = before.get("metrics", {})
        self.types = before.get("types", {})
        self.error = before.get("error") if before.get("state") == "failed" else None
        self._thread = Thread(target=self._go, name=f"job-{self.job.name}", daemon=True)
        self._thread.start()

    @property
    def state(self) -> str:
        if self.error is not None:
            return "failed"
        if self.spec.paused:
            return "paused"
        if self.live is None:
            return "recovering" if self.failures or self._begun_before else "waiting"
        return "running" if self.live.metrics.batches else "waiting"

    @property
    def _begun_before(self) -> bool:
        return bool(self.last.get("batches"))

    def pause(self) -> None:
        with self._lock:
            self._put(paused(self.spec, True))
            self._stop()
            self.tell()
        LOG.info("paused", extra={"job": self.job.name})

    def resume(self) -> None:
        """One that has failed is tried again, too."""
        with self._lock:
            self._put(paused(self.spec, False))
            self.error, self.failures, self.pause_until = None, 0, 0.0
            self.tell()
        LOG.info("resumed", extra={"job": self.job.name})

    def change(self, spec: Spec) -> None:
        """Other queries. What is promised is on disk first: a stream that dies on the way begins again with them."""
        with self._lock:
            terms = self._terms()
            if terms is not None:
                terms.changed(spec.workload, spec.strategy, terms.ranges.places)
            self._put(spec)
            try:
                if self.live is not None and not self.live.wait(0):
                    self.live.change(spec.workload)
            except Exception as error:  # noqa: BLE001 - it is over, and begins again
                self._fail(error)
            self.tell()
        LOG.info("queries changed", extra={"job": self.job.name})

    def _terms(self) -> Terms | None:
        if self.live is not None:
            return self.live.terms
        latest = latest_of(str(self.job.checkpoint))
        return Terms.read(latest.duty()) if latest else None

    def decisions(self) -> list[Any]:
        """Tables of what was decided, of each graph actor and route."""
        with self._lock:
            live = self.live
        try:
            return [] if live is None else [part for parts in live.crew.ask("decisions") for part in parts]
        except RayError as error:
            raise FailedError("a graph actor has died; another one takes its place") from error

    def end(self) -> None:
        """The stream stops after the batch at work, and nobody looks after it any more."""
        self._over.set()
        with self._lock:
            self._stop()
        self._thread.join(5)

    def _put(self, spec: Spec) -> None:
        self.job.put_spec(spec)
        self.spec = spec

    def _stop(self) -> None:
        if self.live is not None:
            self.live.stop()
            self._note(self.live)
            self.live = None

    def _go(self) -> None:
        told = swept = 0.0
        while not self._over.wait(LOOK):
            try:
                with self._lock:
                    if not self._over.is_set():
                        self._step()
                        if time() - told > TOLD:
                            self.tell()
                            told = time()
                if self.service.rows_kept is not None and time() - swept > SWEEP:
                    forget_rows(self.job, time() - self.service.rows_kept * HOUR)
                    swept = time()
            except Exception as error:  # noqa: BLE001 - a job that fails is told of, and the others go on
                self._fail(error)

    def _step(self) -> None:
        if self.live is not None:
            if self.live.wait(0) or log_bytes(self._spark) > self.log + LONG:
                self._stop()
        elif self._ready:
            self._tidy()
            with self.starting:
                self.live = self._started()
            self.begun_with = self.live.metrics.batches
            LOG.info("begun", extra={"job": self.job.name})

    @property
    def _spark(self) -> Path:
        return self.job.checkpoint / "spark"

    def _tidy(self) -> None:
        """What Spark is done with is gone, and it need not remember all of that; nor are drafts of use to anybody."""
        sweep(self.job)
        mend(str(self.job.checkpoint))
        for path in taken(self._spark):
            path.unlink(missing_ok=True)
        shorten(self._spark, lambda path: is_last(self.job, path))
        if self.service.keys_kept is not None:
            forget_keys(self.job, time() - self.service.keys_kept * HOUR, seen(self._spark))
        self.log = log_bytes(self._spark)

    @property
    def _ready(self) -> bool:
        if self.spec.paused or self.error is not None or time() < self.pause_until or not self.job.columns():
            return False
        return self.job.checkpoint.exists() or any(self.job.incoming.glob("*.parquet"))

    def _fail(self, error: Exception) -> None:
        """Bad input will be no better later; the machine may be."""
        LOG.error("failed", extra={"job": self.job.name}, exc_info=error)
        with self._lock:
            if self.live is not None:
                if self.live.metrics.batches > self.begun_with:
                    self.failures = 0
                self._note(self.live)
                self.live = None
            self.failures += 1
            if isinstance(error, WorkloadError | InputError) or self.failures > TRIES:
                self.error = refusal(error).document
            self.pause_until = time() + 2.0**self.failures
            self.tell()

    def _started(self) -> Live:
        spec = self.spec
        asked = Asked(spec.workload, spec.strategy, spec.numeric, spec.late, remembered=self.service.decisions)
        settings = self.settings
        if spec.actors is not None:
            settings = settings.model_copy(update={"actors": spec.actors})
        return Live(asked, self._opened, self._writer, str(self.job.checkpoint), settings)

    def _opened(self, spark: Any) -> Stream:
        """A folder in which events appear, and are deleted when they are taken."""
        fields = [T.StructField(name, SPARK[kind]) for name, kind in self.job.columns().items()]
        reader = spark.readStream.format("parquet").schema(T.StructType(fields))
        options = file_options(self.settings.files_at_once) | {"parquet.page.verify-checksum.enabled": "true"}
        reader = reader.options(**options, cleanSource="delete", pathGlobFilter="*.parquet")
        names = Names(self.spec.type_column, self.spec.time_column)
        return Stream(reader.load(str(self.job.incoming)), names, self.spec.time_unit)

    def _writer(self, terms: Terms) -> Write:
        columns = columns_of(check_text(terms.workload))
        sink = RowsSink(self.job.rows, columns)
        form, approximate = form_of(terms.clock), terms.numeric == "approximate"

        def write(batch: int, rows: list[Rows]) -> None:
            sink.write(batch, table(answers(rows, columns, terms.clock).values(), columns, form, approximate))

        return write

    def tell(self) -> None:
        """How far it is, for whoever asks."""
        if self.live is not None:
            self._note(self.live)
        status = {"state": self.state, "metrics": self.last, "types": self.types, "time": time()}
        self.job.put_status(status if self.error is None else {**status, "error": self.error})

    def _note(self, live: Live) -> None:
        if live.done.number != self.batches:
            self.batches, self.done_at = live.done.number, time()
        self.last = measured(live, time() - self.done_at)
        self.types = live.done.types


def measured(live: Live, age: float) -> dict[str, Any]:
    """Numbers that a stream has counted, and its times as its events have them."""
    metrics, done = asdict(live.metrics), live.done
    parts: dict[str, float] = metrics.pop("parts")
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
        latest, watermark = clock.show(np.array([done.latest, done.watermark])).to_pylist()
        found |= {"latest": _plain(latest), "watermark": _plain(watermark)}
        found["watermark_lag"] = (done.latest - done.watermark) / clock.ticks_per_second
    return found


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value
