"""A live stream: Spark's micro-batches through graph actors to a sink, each exactly once, whatever dies.

A batch is done in this order: its events are on disk, its rows are in the sink, a record says so; then Spark is told.
Who comes after a death finds a batch at one of these points, and does the rest again: the sink takes a batch only once.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import StreamingQueryException
from ray.exceptions import RayError

from actors.graph_actor import Receipt
from actors.rows import Rows
from cluster.checkpoint import Checkpoint, Done, Era
from cluster.collecting import Collecting
from cluster.crew import Batch, Crew
from cluster.local import Metrics
from cluster.recovery import Known, Recovery, hand_over
from cluster.replanning import Replanning, wanted
from cluster.session import session
from cluster.settings import Settings
from cluster.terms import Terms
from connectors.errors import FailedError, InputError
from connectors.spark.dealing import BEGINNING, Deal
from connectors.spark.handover import Blocks, Handed
from connectors.spark.letting_go import let_go
from connectors.spark.setting_aside import set_aside, unreadable_file
from connectors.spark.streams import Stream
from planner.check import check_text
from planner.clock import Clock
from planner.plan import plan
from planner.routes import Ranges

TOLD = "elsinore"
"""What Spark counts on the way."""

COUNTED = ("events", "dead", "late", "unmatched", "dropped")

LOOK = 0.05
"""Seconds between two looks whether a micro-batch is still wanted."""


@dataclass(frozen=True)
class Asked:
    """What somebody wants of a live stream."""

    workload: str
    strategy: str
    numeric: str
    lateness: Fraction
    dead_letters: Path | None = None
    remembered: int = 0
    """The last bursts of each graph actor of which it is known what was decided."""


@dataclass
class LiveMetrics(Metrics):
    """What a live stream has counted since it was first begun; seconds and bursts since its last era began."""

    unmatched: int = 0
    """Events of types that no query names. An event is matched, unmatched, late, or dead."""
    set_aside: int = 0
    """Files that could not be read."""
    batches: int = 0
    replanned: int = 0
    """How often another plan was better for what flowed."""
    parts: dict[str, float] = field(default_factory=dict)
    """Where the seconds of batches went."""


Write = Callable[[int, list[Rows]], None]
"""The rows of a batch; they are safe when it returns."""


class Live:
    """Begun, or resumed from its checkpoint, when it is made; it goes on in the background until it is stopped."""

    def __init__(
        self,
        asked: Asked,
        opened: Callable[[Any], Stream],
        writer: Callable[[Terms], Write],
        checkpoint: str,
        settings: Settings,
        cut: Event | None = None,
    ) -> None:
        """`cut`: set by a caller that waits for no actor any more, not even while this is being made."""
        self.cut = cut
        self.asked = asked
        self.opened = opened
        self.settings = settings
        self.writer = writer
        self._writers: dict[Terms, Write] = {}
        self.metrics = LiveMetrics()
        self.error: BaseException | None = None
        self.left = settings.restarts
        self.checkpoint = Checkpoint(checkpoint)
        self._busy = Lock()
        self._stopping = Event()
        self._wanted: Asked | None = None
        """What somebody wants from the next batch on."""
        try:
            self.session = session(settings)
            self.stream = self._opened()
            self.collecting = Collecting(self.session.pool, settings.restarts, cut)
            self._begin()
            self.query = self._reading()
        except BaseException:
            self._dismiss()
            self.checkpoint.close()
            raise
        self._going = Thread(target=self._go, name="elsinore-live", daemon=True)
        self._going.start()

    def _dismiss(self) -> None:
        """Let go of the actors of a stream that could not be begun."""
        for name in ("crew", "collecting"):
            with suppress(RayError, AttributeError):
                getattr(self, name).dismiss()

    def _opened(self) -> Stream:
        while True:
            self.spark = self.session.spark
            try:
                return self.opened(self.spark)
            except Py4JError:
                if not self._lost:
                    raise

    @property
    def _lost(self) -> bool:
        return self.session.lost(self.spark)

    def _begin(self) -> None:
        """From nothing, or from the end of the last era."""
        latest = self.checkpoint.latest
        self._enter(self._recovered(latest) if latest else None)

    def _recovered(self, era: Era) -> Known:
        return Recovery(self.checkpoint, self._hired, self._written).known(era)

    def _enter(self, known: Known | None) -> None:
        """A new era."""
        era = self.checkpoint.next_era()
        self.terms = self._changed(known.terms) if known else self._first()
        self.done = known.done if known else Done()
        era.begin(self.terms.document())
        self.crew = self._hired(self.terms, era)
        if known:
            hand_over(known, self.crew, self.terms)
        era.put_done(self.done)
        self.era = era
        self.replanning = Replanning(self.terms, self.crew.optimizer, self.crew.duty.observed_as, self.settings.replan)
        self._count([])

    def _first(self) -> Terms:
        asked, settings = self.asked, self.settings
        planned = plan(check_text(asked.workload), asked.strategy)
        clock = Clock.of(self.stream.form, self.stream.time_unit, (*planned.spans, asked.lateness))
        ranges = Ranges.even(settings.key_groups, settings.actors)
        return Terms(uuid.uuid4().hex, asked.workload, asked.strategy, asked.numeric, clock, ranges)

    def _changed(self, terms: Terms) -> Terms:
        """From one era to the next queries may change, and the number of actors; not how times and numbers are kept."""
        if self.asked.numeric != terms.numeric:
            raise InputError(f"this stream's numbers are {terms.numeric}; begin another checkpoint to change that")
        if self.stream.form != terms.clock.form:
            raise InputError(f"this stream's times are {terms.clock.form}, but those of the source {self.stream.form}")
        if self.settings.actors > terms.ranges.groups:
            raise InputError(f"this stream has {terms.ranges.groups} key groups, and can have no more actors than that")
        return terms.changed(self.asked.workload, self.asked.strategy, self.settings.actors)

    def _hired(self, terms: Terms, era: Era | None = None) -> Crew:
        looked_at = era is not None and wanted(terms.strategy, self.settings.replan)
        name = f"{terms.stream}/{era.number}" if era is not None and looked_at else ""
        duty, pool = terms.duty(era, self.asked.remembered, observed_as=name), self.session.pool
        return Crew(duty, terms.ranges, pool, pool.optimizer(duty.policy), self.settings.restarts, self.cut)

    def _reading(self) -> Any:
        """The query of Spark's that calls for every micro-batch."""
        columns = {column for route in self.crew.duty.routes for column in route.columns}
        events = self.stream.cleaned(self.terms.clock, sorted(columns), whole=self.asked.dead_letters is not None)
        log = str(self.checkpoint.spark_log.folder)
        writer = events.writeStream.foreachBatch(self._take).option("checkpointLocation", log)
        return writer.trigger(processingTime=f"{self.settings.trigger} seconds").start()

    def _deal(self) -> Deal:
        watermark = self.done.watermark if self.done.seen else BEGINNING
        return Deal(self.crew.duty.routes, self.terms.ranges.groups, self.crew.duty.types, watermark)

    def _take(self, frame: Any, spark_batch: int) -> None:
        """Called by Spark, for one micro-batch after another; for the last one again if it was not told of its end."""
        # Who stops the query does so between two batches, and waits for this call.
        while not self._busy.acquire(timeout=LOOK):
            self._expect_more()
        try:
            self._expect_more()
            if spark_batch > self.done.spark_batch:
                try:
                    self._do(frame, spark_batch)
                    self._replan()
                except BaseException as error:
                    self.error = error
                    raise
        finally:
            self._busy.release()

    def _expect_more(self) -> None:
        if self._stopping.is_set() or self._wanted is not None:
            # Only what raises is not taken for done.
            raise InterruptedError("the stream was stopped, or is being changed")

    def _do(self, frame: Any, spark_batch: int) -> None:
        number, deal = self.done.number + 1, self._deal()
        with self._timed("spark"):
            observed = frame.observe(TOLD, *deal.counts())
            dealt = deal.dealt(observed)
            events = _Events(self._blocks(dealt), self.era, number)
        done = self._done(number, spark_batch, dealt)
        if self.asked.dead_letters:
            self._bury(done, deal, frame, self.asked.dead_letters)
        let_go(frame._jdf, observed._jdf, dealt._jdf)
        with self._timed("actors"):
            self.crew.send(Batch(number, done.watermark, events))
            _, receipts, parts = self.crew.receive()
        done = replace(done, types=self._types(receipts))
        with self._timed("checkpoint"):
            self.checkpoint.spark_log.keep()
            self.era.put_whole(done)
        with self._timed("rows"):
            done.counts["rows"] += self._written(self.terms, number, parts)
        with self._timed("checkpoint"):
            self.checkpoint.check(self.era)
            self.era.put_done(done)
            self.done = done
            events.kept()
            self.crew.commit(number)
            self._forget()
        self._count(receipts)

    def _replan(self) -> None:
        """After a batch: an era with better plans, where there are any."""
        self.replanning.look()
        if self.replanning.better is not None:
            with self._timed("replanning"):
                self._turn(self.asked, self.replanning.better)

    def _written(self, terms: Terms, batch: int, parts: Sequence[Any]) -> int:
        """The rows of a batch, given what each actor knows of them; how many there are."""
        rows = self.collecting.collect(parts)
        if rows:
            if terms not in self._writers:
                self._writers[terms] = self.writer(terms)
            self._writers[terms](batch, rows)
        return sum(map(len, rows))

    def _blocks(self, dealt: Any) -> Blocks:
        """Computed by Spark, without the files that it cannot read."""
        while True:
            try:
                return Blocks(dealt)
            except Py4JJavaError as error:
                path = unreadable_file(error)
                if path is None or not path.exists():
                    raise
                set_aside(path, self.checkpoint.aside(path))
                self.metrics.set_aside += 1

    def _done(self, number: int, spark_batch: int, dealt: Any) -> Done:
        """What will be known when this batch is done."""
        execution, before = dealt._jdf.queryExecution(), self.done
        told = execution.observedMetrics().apply(TOLD)
        let_go(execution)
        counts = {name: before.counts.get(name, 0) + int(told.getAs(name)) for name in COUNTED}
        counts |= {name: before.counts.get(name, 0) for name in ("rows", "replanned")}
        counts["set_aside"] = self.metrics.set_aside
        latest = told.getAs("latest")
        if latest is None:
            return Done(number, spark_batch, before.seen, before.latest, before.watermark, counts)
        latest = max(int(latest), before.latest) if before.seen else int(latest)
        watermark = latest - self.terms.clock.ticks(self.asked.lateness)
        return Done(
            number, spark_batch, True, latest, max(watermark, before.watermark) if before.seen else watermark, counts
        )

    def _types(self, receipts: Sequence[Receipt]) -> dict[str, int]:
        """Events by type, with those of a batch."""
        return dict(sum((Counter(one.types) for one in receipts), Counter(self.done.types)))

    def _bury(self, done: Done, deal: Deal, frame: Any, folder: Path) -> None:
        """Dead and late events, as they came; those of a batch that comes again are written over."""
        if any(done.counts[name] > self.done.counts.get(name, 0) for name in ("dead", "late")):
            lost = deal.lost(frame)
            in_one = lost.coalesce(1)
            # Python's own writer has another name for Java's after every word.
            writer = in_one._jdf.write()
            let_go(writer.mode("overwrite"))
            writer.json(str(folder.resolve() / f"batch-{done.number:012}"))
            let_go(lost._jdf, in_one._jdf, writer)

    def _forget(self) -> None:
        """Two snapshots are kept, and what came after the first of them."""
        snapshots = [number for number in self.era.snapshots() if number <= self.done.number]
        if len(snapshots) > 2:
            self.era.forget(snapshots[1])
            self.checkpoint.forget_before(self.era)

    def _count(self, receipts: Sequence[Receipt]) -> None:
        for name, count in self.done.counts.items():
            setattr(self.metrics, name, count)
        self.metrics.batches = self.done.number
        self.metrics.note(receipt.counts for receipt in receipts)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        begin = perf_counter()
        yield
        self.metrics.parts[part] = self.metrics.parts.get(part, 0.0) + perf_counter() - begin

    def stop(self) -> None:
        """After the batch that is at work; the stream can be resumed where it stopped."""
        self._stopping.set()
        self._halt()
        self._going.join()

    def change(self, workload: str) -> None:
        """Go on with other queries after the batch that is at work; when it returns, they are those of the stream."""
        self._wanted = replace(self.asked, workload=workload)
        self._halt()
        while self._wanted is not None:
            if self.wait(LOOK):
                raise FailedError("the stream ended before its queries were changed")

    def _halt(self) -> None:
        with self._busy:
            if not self._lost:
                self.query.stop()

    def wait(self, seconds: float | None = None) -> bool:
        """Until the stream ends, or so long; whether it has ended. Raises what it failed over."""
        self._going.join(seconds)
        if self._going.is_alive():
            return False
        if self.error is not None:
            raise self.error
        return True

    def _go(self) -> None:
        """Until it is stopped, or fails over something else than the loss of Spark."""
        try:
            while not self._ended():
                if self._lost:
                    self.left -= 1
                    self.error = None
                    self.crew.withdraw(self.done.number + 1)
                with self._busy:
                    if self._wanted is not None:
                        self._turn(self._wanted)
                self.stream = self._opened()
                with self._busy:
                    if self._stopping.is_set():
                        return
                    self._wanted = None
                    self.query = self._reading()
        except BaseException as error:  # noqa: BLE001 - who waits for this thread raises it
            self.error = error
        finally:
            self.crew.dismiss()
            self.replanning.close()
            self.collecting.dismiss()
            self.checkpoint.close()

    def _turn(self, asked: Asked, better: Terms | None = None) -> None:
        """An era with other queries or plans. Where a batch was cut short, actors may know more than was done: others
        come."""
        try:
            known = Known(self.terms, self.done, self.crew.states(self.done.number))
        except RayError:
            known = self._recovered(self.era)
        self.crew.dismiss()
        self.replanning.close()
        self.asked = asked
        self._enter(known.replanned(better) if better is not None else known)

    def _ended(self) -> bool:
        """Wait for the end of the query of Spark's, and say whether it is that of the stream."""
        failed = None
        try:
            self.query.awaitTermination()
        except (StreamingQueryException, Py4JError) as error:
            failed = FailedError(f"Spark gave up on the stream: {error}")
        if self._stopping.is_set():
            return True
        if (self._lost and self.left) or (self._wanted is not None and self.error is None):
            return False
        self.error = self.error or failed
        return True


class _Events:
    """The events of a batch, by place: from Spark, and from the checkpoint once they are kept there."""

    def __init__(self, blocks: Blocks, era: Era, number: int) -> None:
        self.blocks, self.era, self.number = blocks, era, number
        self.handed = Handed(blocks, range(len(blocks)))
        self.safe = False

    def __call__(self, place: int) -> Sequence[Any]:
        return self.era.events(self.number, place) if self.safe else self.handed(place)

    def kept(self) -> None:
        self.safe = True
        self.handed.let_go()
        self.blocks.close()
