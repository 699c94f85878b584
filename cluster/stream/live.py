"""A live stream: Spark's micro-batches through graph actors to a sink, each exactly once, whatever dies.

A batch is done in this order: its events are on disk, its rows are in the sink, a record says so; then Spark is told.
Who comes after a death finds a batch at one of these points, and does the rest again: the sink takes a batch only once.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Any, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import StreamingQueryException
from ray.exceptions import RayError

from elsinore.actors.rows.rows import Rows
from elsinore.actors.shells.graph_actor import Receipt
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.run.budget import Budget
from elsinore.cluster.run.collecting import Collecting
from elsinore.cluster.run.crew import AheadError, Batch, Crew
from elsinore.cluster.run.local import Metrics
from elsinore.cluster.stream.checkpoint import Checkpoint, Done, Era
from elsinore.cluster.stream.reading import Reading, UnfinishedError
from elsinore.cluster.stream.recovery import Known, Recovery, hand_over
from elsinore.cluster.stream.replanning import Replanning, wanted
from elsinore.cluster.stream.snapshots import Snapshots
from elsinore.cluster.stream.spark_log import NAME
from elsinore.cluster.stream.terms import Terms
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.spark.dealing import BEGINNING, Deal
from elsinore.connectors.spark.handover import Blocks, Handed
from elsinore.connectors.spark.letting_go import let_go
from elsinore.connectors.spark.streams import Stream, UnreadableError
from elsinore.connectors.storage.vault import DamagedError
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.routes import Ranges
from elsinore.planner.time.clock import Clock

TOLD = "elsinore"
"""What Spark counts on the way."""

COUNTED = ("events", "dead", "late", "unmatched", "dropped")

LOOK = 0.05
"""Seconds between two looks whether a micro-batch is still wanted."""


POLL_SECONDS = 0.1
"""Between two looks for the first file of a stream."""

T = TypeVar("T")


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
    """Files that were damaged, and moved away."""
    batches: int = 0
    replanned: int = 0
    """How often another plan was better for what flowed."""
    parts: dict[str, float] = field(default_factory=dict)
    """Where the seconds of batches went."""


Write = Callable[[int, list[Rows]], None]
"""The rows of a batch; they are safe when it returns."""


class Live:
    """Begun, or resumed from its checkpoint, when it is made; it goes on in the background until it is stopped.

    `opened` returns None while its source has no file yet, of which its columns could be known. Then a stream waits in
    the background: a resumed one with actors that know what they knew, a new one without.
    """

    terms: Terms
    era: Era
    crew: Crew
    replanning: Replanning

    def __init__(
        self,
        asked: Asked,
        opened: Callable[[Any], Stream | None],
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
        self.losses = Budget(settings.restarts)
        """Of Spark."""
        self.checkpoint = Checkpoint(checkpoint)
        self._busy = Lock()
        self._stopping = Event()
        self._wanted: Asked | None = None
        """What somebody wants from the next batch on."""
        self._changing = Lock()
        self._anew = False
        """Whether the batch at work is to be done again, by another query of Spark's."""
        self.done = Done()
        self.query: Any = None
        self.files = Reading(self.checkpoint.spark_log.folder, self.checkpoint.aside, self._stopping.wait)
        self._held = ExitStack()
        self._held.callback(self.checkpoint.close)
        try:
            self.checkpoint.mend()
            self.session = session(settings)
            self.stream = self._opened()
            self.collecting = Collecting(self.session.pool, settings.restarts, cut)
            self._held.callback(self.collecting.dismiss)
            self._held.callback(self._dismiss)
            if self.stream is not None or self.checkpoint.latest is not None:
                self._begin()
            if self.stream is not None:
                self.query = self._reading(self.stream)
        except BaseException:
            self._held.close()
            raise
        self._going = Thread(target=self._go, name="elsinore-live", daemon=True)
        self._going.start()

    @property
    def waiting(self) -> bool:
        """Whether there is no file yet from which its columns could be known."""
        return self.stream is None

    def _opened(self) -> Stream | None:
        while True:
            self.spark = self.session.spark
            try:
                stream, moved = self.files.first(lambda: self.opened(self.spark))
            except Py4JError:
                if not self._lost:
                    raise
            else:
                self.metrics.set_aside += moved
                return stream

    @property
    def _lost(self) -> bool:
        return self.session.lost(self.spark)

    def _begin(self) -> None:
        """From nothing, or from the end of the last era."""
        latest = self.checkpoint.latest
        self._enter(self._recovered(latest) if latest else None)
        self.metrics.set_aside += self.done.counts.get("set_aside", 0)

    def _recovered(self, era: Era) -> Known:
        return Recovery(self.checkpoint, self._hired, self._written).known(era)

    def _enter(self, known: Known | None) -> None:
        """A new era."""
        era = self.checkpoint.next_era()
        self.terms = self._changed(known.terms) if known else self._first(self.stream)
        self.done = known.done if known else Done()
        era.begin(self.terms.document())
        self._writer_of(self.terms)  # refuses a sink of another stream, now that it is known which one this is
        self.crew = self._hired(self.terms, era)
        if known:
            hand_over(known, self.crew, self.terms)
        era.put_done(self.done)
        self.era = era
        self.snapshots = Snapshots(self.checkpoint, era, self.terms.ranges.places)
        if known:
            self._forget()
        self.replanning = Replanning(self.terms, self.crew.optimizer, self.crew.duty.observed_as, self.settings.replan)
        self._count([])

    def _first(self, stream: Stream | None) -> Terms:
        assert stream is not None, "a new stream is begun when its columns are known"
        asked, settings = self.asked, self.settings
        spans = check_text(asked.workload).spans
        clock = Clock.of(stream.form, stream.time_unit, (*spans, asked.lateness))
        ranges = Ranges.even(settings.key_groups, settings.actors)
        return Terms(uuid.uuid4().hex, asked.workload, asked.strategy, asked.numeric, clock, ranges)

    def _changed(self, terms: Terms) -> Terms:
        """From one era to the next queries may change, and the number of actors; not how times and numbers are kept."""
        if self.asked.numeric != terms.numeric:
            raise InputError(f"this stream's numbers are {terms.numeric}; begin another checkpoint to change that")
        if self.stream is not None:
            _check_form(terms, self.stream)
        if self.settings.actors > terms.ranges.groups:
            raise InputError(f"this stream has {terms.ranges.groups} key groups, and can have no more actors than that")
        return terms.changed(self.asked.workload, self.asked.strategy, self.settings.actors)

    def _hired(self, terms: Terms, era: Era | None = None) -> Crew:
        looked_at = era is not None and wanted(terms.strategy, self.settings.replan)
        name = f"{terms.stream}/{era.number}" if era is not None and looked_at else ""
        duty, pool = terms.duty(era, self.asked.remembered, observed_as=name), self.session.pool
        return Crew(duty, terms.ranges, pool, pool.optimizer(duty.policy), self.settings.restarts, self.cut)

    def _reading(self, stream: Stream) -> Any:
        """The query of Spark's that calls for every micro-batch."""
        columns = {column for route in self.crew.duty.routes for column in route.columns}
        events = stream.cleaned(self.terms.clock, sorted(columns), whole=self.asked.dead_letters is not None)
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
            if spark_batch != self.done.spark_batch:
                try:
                    self._check_next(spark_batch)
                    self._do(frame, spark_batch)
                    self._replan()
                except UnfinishedError:
                    raise
                except BaseException as error:
                    self.error = error
                    raise
        finally:
            self._busy.release()

    def _expect_more(self) -> None:
        if self._stopping.is_set() or self._wanted is not None:
            # Only what raises is not taken for done.
            raise UnfinishedError("the stream was stopped, or is being changed")

    def _check_next(self, spark_batch: int) -> None:
        """Refuse to go on where Spark has another opinion of what was done."""
        if spark_batch != self.done.spark_batch + 1:
            raise FailedError(
                f"Spark goes on with batch {spark_batch}, but the last one of the checkpoint "
                f"{self.checkpoint.vault.root} is {self.done.spark_batch}: its folder {NAME} was changed meanwhile. "
                "Stop what changes it, and begin again with the same checkpoint."
            )

    def _do(self, frame: Any, spark_batch: int) -> None:
        number, deal = self.done.number + 1, self._deal()
        with self._timed("spark"):
            observed = frame.observe(TOLD, *deal.counts())
            dealt = deal.dealt(observed)
            events = _Events(self._tried(lambda: Blocks(dealt), spark_batch), self.era, number)
        done = self._done(number, spark_batch, dealt)
        if self.asked.dead_letters:
            letters = self.asked.dead_letters
            self._tried(lambda: self._bury(done, deal, frame, letters), spark_batch, events.blocks.close)
        let_go(frame._jdf, observed._jdf, dealt._jdf)
        with self._timed("actors"):
            self.crew.send(Batch(number, done.watermark, events))
            _, receipts, parts = self.crew.receive()
        done = replace(done, types=self._types(receipts), spark_stream=self.checkpoint.spark_log.stream)
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
            if self.crew.commit(number):
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
            self._writer_of(terms)(batch, rows)
        return sum(map(len, rows))

    def _tried(self, job: Callable[[], T], spark_batch: int, release: Callable[[], object] = lambda: None) -> T:
        """Run a job of Spark's that reads the files of a batch. If it cannot, the batch is begun anew, without those
        that are damaged."""
        try:
            return job()
        except Py4JJavaError as error:
            if self._lost or self.stream is None:
                raise
            release()
            self.metrics.set_aside += self.files.failed(error, self.stream, spark_batch)
            self._expect_more()
            self._anew = True
            raise UnfinishedError("files of this batch could not be read") from None

    def _writer_of(self, terms: Terms) -> Write:
        if terms not in self._writers:
            self._writers[terms] = self.writer(terms)
        return self._writers[terms]

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
        """Keep two snapshots that are whole, and what came after the first of them."""
        try:
            self.snapshots.add(self.done.number)
        except DamagedError as error:
            self.crew.save_again(error)

    def _count(self, receipts: Sequence[Receipt]) -> None:
        for name, count in self.done.counts.items():
            if name != "set_aside":
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
        with self._changing:
            self._wanted = replace(self.asked, workload=workload)
        self._halt()
        while self._wanted is not None:
            if self.wait(LOOK):
                raise FailedError("the stream ended before its queries were changed")

    def _heard(self, asked: Asked | None) -> None:
        """Take note that a change was made, unless another one was asked for meanwhile."""
        with self._changing:
            if self._wanted is asked:
                self._wanted = None

    def _halt(self) -> None:
        with self._busy:
            query = self.query
            if query is not None and not self._lost:
                # Where Java has ended meanwhile, so has the query.
                with suppress(Py4JNetworkError, OSError):
                    query.stop()

    @property
    def ended(self) -> bool:
        return not self._going.is_alive()

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
            while (self.query is not None or self._begun()) and not self._ended():
                if self._lost:
                    self.error = None
                    self.crew.withdraw(self.done.number + 1)
                with self._busy:
                    self.query = None
                    if self._wanted is not None:
                        self._turn(self._wanted)
        except BaseException as error:  # noqa: BLE001 - who waits for this thread raises it
            self.error = error
        finally:
            self.query = None
            self._held.close()

    def _begun(self) -> bool:
        """Wait for the columns of the source, and have Spark read it; returns whether the stream was not stopped."""
        while not self._stopping.is_set():
            try:
                stream = self._opened()
            except UnreadableError:
                if self._stopping.is_set():
                    break
                raise
            with self._busy:
                if self._stopping.is_set():
                    break
                self.stream = stream
                asked = self._wanted
                if stream is not None and self._entered:
                    _check_form(self.terms, stream)
                if asked is not None and asked != self.asked:
                    if self._entered:
                        self._turn(asked)
                    self.asked = asked
                if stream is not None and not self._entered:
                    self._begin()
                self._heard(asked)
                if stream is not None:
                    self.query = self._reading(stream)
                    return True
            self._stopping.wait(POLL_SECONDS)
        return False

    @property
    def _entered(self) -> bool:
        """Whether an era has begun, with actors."""
        return hasattr(self, "replanning")

    def _dismiss(self) -> None:
        """Let go of the actors of the last era, also where it could not be begun."""
        if hasattr(self, "crew"):
            with suppress(RayError):
                self.crew.dismiss()
        if self._entered:
            self.replanning.close()

    def _turn(self, asked: Asked, better: Terms | None = None) -> None:
        """An era with other queries or plans."""
        known = self._known()
        self.crew.dismiss()
        self.replanning.close()
        self.asked = asked
        self._enter(known.replanned(better) if better is not None else known)

    def _known(self) -> Known:
        """Return what is known after the last batch. Where the next one was cut short, actors may have taken it, or its
        rows may have been written: then that is found out as after the death of this process."""
        if self.era.whole(self.done.number + 1) is None:
            with suppress(AheadError):
                return Known(self.terms, self.done, self.crew.states(self.done.number))
        return self._recovered(self.era)

    def _ended(self) -> bool:
        """Wait for the end of the query of Spark's, and say whether it is that of the stream."""
        failed = None
        try:
            self.query.awaitTermination()
        except (StreamingQueryException, Py4JError) as error:
            failed = FailedError(f"Spark gave up on the stream: {error}")
        if self._stopping.is_set():
            return True
        anew, self._anew = self._anew and not self._lost, False
        if self._lost:
            if self.losses.spend(self.done.number):
                return False
        elif (self._wanted is not None or anew) and self.error is None:
            return False
        self.error = self.error or failed
        return True


def _check_form(terms: Terms, stream: Stream) -> None:
    if stream.form != terms.clock.form:
        raise InputError(f"this stream's times are {terms.clock.form}, but those of the source {stream.form}")


class _Events:
    """The events of a batch, by place: from Spark, and from the checkpoint once they are kept there."""

    def __init__(self, blocks: Blocks, era: Era, number: int) -> None:
        self.blocks, self.era, self.number = blocks, era, number
        self.handed = Handed(blocks, range(len(blocks)))
        self.safe = False

    def __call__(self, place: int) -> Sequence[Any]:
        if not self.safe:
            return self.handed(place)
        try:
            return self.era.events(self.number, place)
        except DamagedError as error:
            raise FailedError(f"{error}; a graph actor has died, and the one in its place needs these events") from None

    def kept(self) -> None:
        self.safe = True
        self.handed.let_go()
        self.blocks.close()
