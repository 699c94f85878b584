"""Run a live stream: pass Spark's micro-batches through graph actors to a sink, each exactly once, despite failures.

A batch goes through these steps: write its events to disk, write its rows to the sink, write its record. After a crash
the next process finds a batch at one of these steps, and repeats the rest: the sink takes a batch only once.

These steps follow in a thread of their own, so Spark reads a batch while the actors are busy with the one before it.
Spark takes that one for done meanwhile. If its rows do not become safe, Spark's log is set back, and Spark repeats it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
from elsinore.cluster.run.collecting import SupervisedCollector
from elsinore.cluster.run.crew import AheadError, Crew, NumberedBatch
from elsinore.cluster.run.dealing import dealing
from elsinore.cluster.run.handing_on import BatchRows
from elsinore.cluster.run.local import Metrics
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint, Era
from elsinore.cluster.stream.reading import Reading, UnfinishedError
from elsinore.cluster.stream.recovery import EraEnd, Recovery, hand_over
from elsinore.cluster.stream.replanning import Replanning, is_wanted
from elsinore.cluster.stream.snapshots import Snapshots
from elsinore.cluster.stream.spark_log import FOLDER_NAME
from elsinore.cluster.stream.terms import Terms
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.spark.dealing import BEGINNING, Deal
from elsinore.connectors.spark.handover import BlockReferences, Dealt, SparkBlocks
from elsinore.connectors.spark.java_objects import java_frame, observed_values, release, release_frames
from elsinore.connectors.spark.streams import Stream, UnreadableFileError
from elsinore.connectors.storage.vault import DamagedError
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.hand_over import chosen_hand_over
from elsinore.planner.plans.routes import Ranges
from elsinore.planner.time.clock import Clock

OBSERVATION_NAME = "elsinore"
"""The name of Spark's observation that counts the events of a batch."""

OBSERVED_COUNTERS = ("events", "dead", "late", "unmatched", "dropped")

CHANGE_POLL_SECONDS = 0.05
"""Seconds between two checks whether a waiting micro-batch is still wanted, and whether a change was made."""


QUERY_POLL_SECONDS = 0.5
"""Seconds between two checks whether the rows of a batch could not be made safe, while Spark waits for events."""

SOURCE_POLL_SECONDS = 0.1
"""Seconds between two polls for the first file of a stream."""

T = TypeVar("T")


@dataclass(frozen=True)
class StreamRequest:
    """The workload and options that a caller asks of a live stream."""

    workload: str
    strategy: str
    numeric: str
    lateness: Fraction
    dead_letters: Path | None = None
    remembered: int = 0
    """The number of decisions, the last ones, that each engine of a graph actor keeps; 0 records none."""


@dataclass
class LiveMetrics(Metrics):
    """The counters of a live stream since it first began; seconds and bursts since its last era began."""

    unmatched: int = 0
    """Events of types that no query names. An event is matched, unmatched, late, or dead."""
    set_aside: int = 0
    """Damaged files that were moved away."""
    batches: int = 0
    waiting: bool = False
    """Whether the source has no file yet to read the columns from."""
    replanned: int = 0
    """The number of times that a better plan replaced the one in use."""
    unfinished_rows: int = 0
    """Rows of the current batch that the sink was given so far. The watermark stays until it has taken all of them."""
    parts: dict[str, float] = field(default_factory=dict)
    """Seconds that batches took, by step: spark, log, actors, checkpoint, rows, replanning. Spark reads a batch
    during the last steps of the one before."""


Write = Callable[[int, Iterable[list[Rows]]], None]
"""Write the rows of a batch, given its number; they are safe when the call returns. They may be iterated again."""


class Live:
    """A live stream. The constructor begins it or resumes its checkpoint; it runs in the background until stopped.

    `opened` returns None while the source has no file yet to read the columns from. Then the stream waits in the
    background: a resumed one with restored actors, a new one without actors.
    """

    terms: Terms
    era: Era
    crew: Crew
    replanning: Replanning
    dealing: Dealt | None

    def __init__(
        self,
        asked: StreamRequest,
        opened: Callable[[Any], Stream | None],
        writer: Callable[[Terms], Write],
        checkpoint: str,
        settings: Settings,
        cut: Event | None = None,
    ) -> None:
        """Begin or resume the stream. When a caller sets `cut`, no actor is waited for, not even in here."""
        self.cut = cut
        self.asked = asked
        self.opened = opened
        self.settings = settings
        self.writer = writer
        self._writers: dict[Terms, Write] = {}
        self.metrics = LiveMetrics()
        self.error: BaseException | None = None
        self.losses = Budget(settings.restarts)
        """The limit on losses of Spark."""
        self.checkpoint = Checkpoint(checkpoint)
        self._busy = Lock()
        self._stopping = Event()
        self._requested: StreamRequest | None = None
        """The requested change, until it is made; None if there is none."""
        self._changing = Lock()
        self._repeat_batch = False
        """Whether the current batch has to be repeated by a new Spark query."""
        self.done = BatchRecord()
        self.taken = self.done
        """The last batch that the actors were given; its rows are not safe before it is done."""
        self._finisher = ThreadPoolExecutor(1, "elsinore-finisher")
        self._finishing: Future[None] | None = None
        """The rest of the work for the batch `taken`; None once that was waited for."""
        self.query: Any = None
        self.files = Reading(self.checkpoint.spark_log.folder, self.checkpoint.aside, self._stopping.wait)
        self._held = ExitStack()
        self._held.callback(self.checkpoint.close)
        self._held.callback(self._finisher.shutdown)
        try:
            self.checkpoint.mend()
            self.session = session(settings)
            self._set_stream(self._opened())
            self.collecting = SupervisedCollector(self.session.pool, settings.restarts, cut)
            self._held.callback(self.collecting.dismiss)
            self._held.callback(self._dismiss)
            if self.stream is not None or self.checkpoint.latest is not None:
                self._begin()
            if self.stream is not None:
                self.query = self._start_query(self.stream)
        except BaseException:
            self._held.close()
            raise
        self._thread = Thread(target=self._run, name="elsinore-live", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> bool:
        """Return whether the source has no file yet to read the columns from."""
        return self.stream is None

    def _set_stream(self, stream: Stream | None) -> None:
        self.stream, self.metrics.waiting = stream, stream is None

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
        """Begin the first era, or one that follows from the end of the last era of the checkpoint."""
        latest = self.checkpoint.latest
        self._enter(self._recovered(latest) if latest else None)
        self.metrics.set_aside += self.done.counts.get("set_aside", 0)

    def _recovered(self, era: Era) -> EraEnd:
        return Recovery(self.checkpoint, self._hire, self._write_rows).end_of(era)

    def _enter(self, known: EraEnd | None) -> None:
        """Begin a new era, from the end of the one before it if `known` is given."""
        era = self.checkpoint.next_era()
        self.terms = self._changed(known.terms) if known else self._first(self.stream)
        self.done = self.taken = known.done if known else BatchRecord()
        era.begin(self.terms.document())
        self._writer_of(self.terms)  # refuses a sink of another stream, now that this stream's identifier is known
        self.crew = self._hire(self.terms, era)
        self._choose_hand_over()
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
        terms = Terms(uuid.uuid4().hex, asked.workload, asked.strategy, asked.numeric, clock, ranges)
        return terms.with_columns(stream.event_columns).with_components()

    def _changed(self, terms: Terms) -> Terms:
        """Return the terms with the requested workload, strategy and number of actors.

        Raise InputError where the numbers, the form of times or the key groups would have to change.
        """
        if self.asked.numeric != terms.numeric:
            raise InputError(
                f"the numbers of this stream are {terms.numeric}; to change that, start with a new checkpoint"
            )
        if self.stream is not None:
            _check_form(terms, self.stream)
        if self.settings.actors > terms.ranges.groups:
            raise InputError(f"this stream has {terms.ranges.groups} key groups, so it can have at most as many actors")
        found = terms.changed(self.asked.workload, self.asked.strategy, self.settings.actors)
        return found if self.stream is None else found.with_columns(self.stream.event_columns)

    def _hire(self, terms: Terms, era: Era | None = None) -> Crew:
        looked_at = era is not None and is_wanted(terms.strategy, self.settings.replan)
        name = f"{terms.stream}/{era.number}" if era is not None and looked_at else ""
        duty, pool = terms.duty(era, self.asked.remembered, observed_as=name), self.session.pool
        return Crew(duty, terms.ranges, pool, pool.optimizer(duty.policy), self.settings.restarts, self.cut)

    def _choose_hand_over(self) -> None:
        """Choose how the actors of an era get events. No row depends on it, so each era chooses anew."""
        found, ranges, pool = self.crew.duty.routes, self.terms.ranges, self.session.pool
        way = chosen_hand_over(found, ranges.places, self.session.several_nodes, self.settings.hand_over)
        self.dealing = dealing(way, pool, ranges, found)
        self.metrics.hand_over = way.way

    def _start_query(self, stream: Stream) -> Any:
        """Start the Spark query that calls `_process` with every micro-batch."""
        columns = {column for route in self.crew.duty.routes for column in route.columns}
        events = stream.cleaned(self.terms.clock, sorted(columns), whole=self.asked.dead_letters is not None)
        log = str(self.checkpoint.spark_log.folder)
        writer = events.writeStream.foreachBatch(self._process).option("checkpointLocation", log)
        return writer.trigger(processingTime=f"{self.settings.trigger} seconds").start()

    def _deal(self) -> Deal:
        watermark = self.taken.watermark if self.taken.seen else BEGINNING
        return Deal(self.crew.duty.routes, self.terms.ranges.groups, self.crew.duty.types, watermark)

    def _process(self, frame: Any, spark_batch: int) -> None:
        """Process a micro-batch. Spark calls this in order, and repeats the last batch if it did not record its end."""
        # `_halt` stops the query between two batches: it holds the lock, and Spark waits for this call to end.
        while not self._busy.acquire(timeout=CHANGE_POLL_SECONDS):
            self._expect_more()
        try:
            self._expect_more()
            try:
                self._check_log(spark_batch)
                if spark_batch != self.taken.spark_batch:
                    self._replan()
                    self._process_batch(frame, spark_batch)
            except UnfinishedError:
                raise
            except BaseException as error:
                self.error = error
                raise
        finally:
            self._busy.release()

    def _expect_more(self) -> None:
        if self._stopping.is_set() or self._requested is not None:
            # Spark takes a batch for done unless the call raises.
            raise UnfinishedError("the stream was stopped, or is being changed")

    def _check_log(self, spark_batch: int) -> None:
        """Raise FailedError where Spark's log was changed while this process relies on it.

        Spark repeats the last batch of the checkpoint or goes on with the next one, in the same stream. Another stream
        begins to count anew, with other events in each batch.
        """
        ours, last = self.taken.spark_stream, self.taken.spark_batch
        if spark_batch not in (last, last + 1) or (ours and ours != self.checkpoint.spark_log.stream):
            raise FailedError(
                f"Spark continues with batch {spark_batch}, but the last batch of the checkpoint "
                f"{self.checkpoint.vault.root} is {last}: its folder {FOLDER_NAME} was deleted or changed while the "
                "stream ran. Stop the program that changes it, restore the whole checkpoint, and start again."
            )

    def _process_batch(self, frame: Any, spark_batch: int) -> None:
        """Give a micro-batch to the actors once they are done with the one before it; `_finish_batch` does the rest."""
        number, deal = self.taken.number + 1, self._deal()
        with self._timed("spark"):
            observed = frame.observe(OBSERVATION_NAME, *deal.counts())
            dealt = deal.dealt(observed)
            blocks = self._read_or_retry(lambda: SparkBlocks(dealt), spark_batch)
            events = _BatchEvents(blocks, self.era, number, self.dealing)
        taken = self._record_of(number, spark_batch, dealt)
        if self.asked.dead_letters:
            letters = self.asked.dead_letters
            self._read_or_retry(lambda: self._bury(taken, deal, frame, letters), spark_batch, events.blocks.close)
        release_frames(frame, observed, dealt)
        self._finish()
        self.crew.send(NumberedBatch(number, taken.watermark, events))
        self.taken = taken
        with self._timed("log"):
            # Spark writes its log when this call has ended.
            self.checkpoint.spark_log.keep()
        self._finishing = self._finisher.submit(self._finish_batch, taken, events)

    def _finish(self) -> None:
        """Wait until the batch that the actors have is done; raise the error because of which it is not."""
        finishing, self._finishing = self._finishing, None
        if finishing is not None:
            finishing.result()

    def _finish_batch(self, taken: BatchRecord, events: _BatchEvents) -> None:
        """Wait for the actors, and make the rows of the batch safe."""
        number = taken.number
        with self._timed("actors"):
            _, receipts = self.crew.receive()
        counts = {**taken.counts, **{name: self.done.counts.get(name, 0) for name in ("rows", "replanned")}}
        done = replace(taken, counts=counts, types=self._types(receipts))
        with self._timed("checkpoint"):
            self.era.put_whole(done)
        with self._timed("rows"):
            done.counts["rows"] += self._write_rows(self.terms, number, self.crew)
        with self._timed("checkpoint"):
            self.checkpoint.check(self.era)
            self.era.put_done(done)
            self.done = done
            events.keep_in_checkpoint()
            if self.crew.commit(number):
                self._forget()
        self._count(receipts)
        self.replanning.poll()

    def _replan(self) -> None:
        """Begin an era with better plans before a batch, where any were found."""
        if self.replanning.better is not None:
            with self._timed("replanning"):
                self._begin_changed_era(self.asked, self.replanning.better)

    def _write_rows(self, terms: Terms, batch: int, crew: Crew) -> int:
        """Write the rows of a batch, given the actors that have taken it; return how many rows there are."""
        rows = BatchRows(crew, self.collecting, batch, self._note_rows)
        if rows:
            self._writer_of(terms)(batch, rows)
        self._note_rows(0)
        return rows.count

    def _note_rows(self, count: int) -> None:
        self.metrics.unfinished_rows = count

    def _read_or_retry(self, job: Callable[[], T], spark_batch: int, release: Callable[[], object] = lambda: None) -> T:
        """Run a Spark job that reads the files of a batch. If files cannot be read, set the damaged ones aside and
        raise UnfinishedError, so that a new query repeats the batch without them."""
        try:
            return job()
        except Py4JJavaError as error:
            if self._lost or self.stream is None:
                raise
            release()
            self.metrics.set_aside += self.files.failed(error, self.stream, spark_batch)
            self._expect_more()
            self._repeat_batch = True
            raise UnfinishedError("files of this batch could not be read") from None

    def _writer_of(self, terms: Terms) -> Write:
        if terms not in self._writers:
            self._writers[terms] = self.writer(terms)
        return self._writers[terms]

    def _record_of(self, number: int, spark_batch: int, dealt: Any) -> BatchRecord:
        """Return the record of this batch, without its rows."""
        before = self.taken
        observed_counts = observed_values(dealt, OBSERVATION_NAME)
        counts = {name: before.counts.get(name, 0) + int(observed_counts.getAs(name)) for name in OBSERVED_COUNTERS}
        counts["set_aside"] = self.metrics.set_aside
        stream = self.checkpoint.spark_log.stream
        latest = observed_counts.getAs("latest")
        if latest is None:
            return replace(before, number=number, spark_batch=spark_batch, counts=counts, spark_stream=stream)
        latest = max(int(latest), before.latest) if before.seen else int(latest)
        watermark = latest - self.terms.clock.ticks(self.asked.lateness)
        watermark = max(watermark, before.watermark) if before.seen else watermark
        return BatchRecord(number, spark_batch, True, latest, watermark, counts, spark_stream=stream)

    def _types(self, receipts: Sequence[Receipt]) -> dict[str, int]:
        """Return the events by type so far, with those of this batch."""
        return dict(sum((Counter(one.types) for one in receipts), Counter(self.done.types)))

    def _bury(self, taken: BatchRecord, deal: Deal, frame: Any, folder: Path) -> None:
        """Write the dead and late events of a batch as they came. A batch that is repeated overwrites them."""
        if any(taken.counts[name] > self.taken.counts.get(name, 0) for name in ("dead", "late")):
            lost = deal.lost(frame)
            in_one = lost.coalesce(1)
            # PySpark's writer makes another reference to the Java object with every call.
            writer = java_frame(in_one).write()
            release(writer.mode("overwrite"))
            writer.json(str(folder.resolve() / f"batch-{taken.number:012}"))
            release(writer)
            release_frames(lost, in_one)

    def _forget(self) -> None:
        """Keep the last two whole snapshots and all that follows the first of them; delete what is older.

        Where a snapshot is damaged, save another one with the next batch.
        """
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
        """Stop the stream after the current batch, and wait for its end. It can be resumed from its checkpoint."""
        self._stopping.set()
        self._halt()
        self._thread.join()

    def change(self, workload: str) -> None:
        """Replace the queries after the current batch, and return when that is done.

        Raise FailedError where the stream ends before.
        """
        with self._changing:
            self._requested = replace(self.asked, workload=workload)
        self._halt()
        while self._requested is not None:
            if self.wait(CHANGE_POLL_SECONDS):
                raise FailedError("the stream ended before its queries were changed")

    def _clear_request(self, asked: StreamRequest | None) -> None:
        """Clear the request for a change that was made, unless another one came meanwhile."""
        with self._changing:
            if self._requested is asked:
                self._requested = None

    def _halt(self) -> None:
        with self._busy:
            query = self.query
            if query is not None and not self._lost:
                # If the Java process has ended meanwhile, so has the query.
                with suppress(Py4JNetworkError, OSError):
                    query.stop()

    @property
    def replaced(self) -> int:
        """Return how many graph actors of this era were replaced after a failure."""
        return self.crew.replaced if hasattr(self, "crew") else 0

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the stream ends or the time is over; return whether it ended. Raise the error that ended it."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            return False
        if self.error is not None:
            raise self.error
        return True

    def _run(self) -> None:
        """Run the stream, in its thread, until it is stopped or fails otherwise than by the loss of Spark.

        Spark queries follow one another: each ends with a change, a batch to repeat, or the loss of Spark.
        """
        try:
            while (self.query is not None or self._start_when_ready()) and not self._wait_for_query():
                if self._lost:
                    self._set_back()
                with self._busy:
                    self.query = None
                    if self._requested is not None:
                        self._begin_changed_era(self._requested)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it
            self.error = error
        finally:
            self.query = None
            self._held.close()

    def _set_back(self) -> None:
        """Go back to the last batch that is done, after the loss of Spark: Spark repeats what came after it."""
        self.error = None
        self.crew.withdraw(self.done.number + 1)
        self.taken = self.done
        self.checkpoint.spark_log.begin(self.done.spark_batch, self.done.spark_stream)

    def _start_when_ready(self) -> bool:
        """Poll the source until its columns are known, then start a Spark query; return False if stopped before."""
        while not self._stopping.is_set():
            try:
                stream = self._opened()
            except UnreadableFileError:
                if self._stopping.is_set():
                    break
                raise
            with self._busy:
                if self._stopping.is_set():
                    break
                self._set_stream(stream)
                asked = self._requested
                if stream is not None and self._has_era:
                    _check_form(self.terms, stream)
                if asked is not None and asked != self.asked:
                    if self._has_era:
                        self._begin_changed_era(asked)
                    self.asked = asked
                if stream is not None and not self._has_era:
                    self._begin()
                self._clear_request(asked)
                if stream is not None:
                    self.query = self._start_query(stream)
                    return True
            self._stopping.wait(SOURCE_POLL_SECONDS)
        return False

    @property
    def _has_era(self) -> bool:
        """Return whether an era has begun, with its actors."""
        return hasattr(self, "replanning")

    def _dismiss(self) -> None:
        """Release the actors of the last era, even where that era could not begin."""
        if hasattr(self, "crew"):
            with suppress(RayError):
                self.crew.dismiss()
        if self._has_era:
            self.replanning.close()

    def _begin_changed_era(self, asked: StreamRequest, better: Terms | None = None) -> None:
        """Begin an era with other queries, or with better plans for the same queries."""
        self._finish()
        known = self._era_end()
        self.crew.dismiss()
        self.replanning.close()
        self.asked = asked
        self._enter(known.replanned(better) if better is not None else known)

    def _era_end(self) -> EraEnd:
        """Return the state after the last batch.

        Where the next batch was cut short, actors may have taken it and its rows may have been written. Then recover
        from the checkpoint, as after a crash of this process.
        """
        if self.era.whole(self.done.number + 1) is None:
            with suppress(AheadError):
                return EraEnd(self.terms, self.done, self.crew.states(self.done.number))
        return self._recovered(self.era)

    def _wait_for_query(self) -> bool:
        """Wait for the end of the Spark query; return whether the stream ends with it."""
        failed = None
        try:
            while not self.query.awaitTermination(QUERY_POLL_SECONDS):
                if self._batch_failed:
                    self._halt()
        except (StreamingQueryException, Py4JError) as error:
            failed = FailedError(f"Spark's query of the stream failed: {error}")
        try:
            self._finish()
        except BaseException as error:  # noqa: BLE001 - `wait` raises it
            self.error = self.error or error
        if self._stopping.is_set():
            return True
        anew, self._repeat_batch = self._repeat_batch and not self._lost, False
        if self._lost:
            if self.losses.spend(self.done.number):
                return False
        elif (self._requested is not None or anew) and self.error is None:
            return False
        self.error = self.error or failed
        return True

    @property
    def _batch_failed(self) -> bool:
        """Return whether the last batch failed after the actors were given it, and nothing has waited for it yet."""
        finishing = self._finishing
        return finishing is not None and finishing.done() and finishing.exception() is not None


def _check_form(terms: Terms, stream: Stream) -> None:
    if stream.form != terms.clock.form:
        raise InputError(f"the times of this stream are {terms.clock.form}, but those of its source are {stream.form}")


class _BatchEvents:
    """The events of a batch, by place: from Spark, or from the checkpoint once the batch is done."""

    def __init__(self, blocks: SparkBlocks, era: Era, number: int, deal: Dealt | None) -> None:
        self.blocks, self.era, self.number = blocks, era, number
        self.handed = BlockReferences(blocks, range(len(blocks)), deal)
        self.safe = False

    def __call__(self, place: int) -> Sequence[Any]:
        if not self.safe:
            return self.handed(place)
        try:
            return self.era.events(self.number, place)
        except DamagedError as error:
            raise FailedError(f"{error}; its events are needed because a graph actor has died") from None

    def keep_in_checkpoint(self) -> None:
        self.safe = True
        self.handed.release()
        self.blocks.close()
