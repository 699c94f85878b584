"""The engine of one process: takes batches and returns rows; its state can be saved between any two batches.

Its plan can be changed between any two batches, too. No state is translated from one plan to another: where the plans
differ, both run side by side until the windows that began before the change are over. The old plan answers these
windows, the new plan all that begin later. That holds for every strategy and every kind of window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.detection.joins.record import StoredRecord, stored_table
from elsinore.actors.detection.match_rows import TICKS
from elsinore.actors.detection.part import DetectionPart
from elsinore.actors.detection.run import ALONE, DetectionSetting
from elsinore.actors.hamlet.decisions import Decisions, decisions_table
from elsinore.actors.hamlet.graph import HamletGraph
from elsinore.actors.kinds import Setting
from elsinore.actors.part import Part
from elsinore.actors.plan_state import load_plan
from elsinore.actors.rows.found import Found
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.rows.rows import Rows
from elsinore.actors.set_run import SetRun
from elsinore.actors.state import checked, pack, reading, signed, unpack
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.key_groups import key_groups
from elsinore.actors.streams.late import LateEvents
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.places import Beginning, Places
from elsinore.actors.streams.reorder import END, START, Reorder
from elsinore.actors.streams.statistics import StreamStatistics
from elsinore.actors.work_done import WorkDone
from elsinore.planner.costs.drift import Observed
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.plans.changing import speaking
from elsinore.planner.plans.kinds import SetKind
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import parts_of
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.spans import show_length

SLICE_EVENTS = 1 << 22
"""Number of events in a slice of a batch; derived columns are in memory for one slice at a time."""


class Engine:
    """The evaluation of a plan over a stream.

    A batch is a RecordBatch. Its columns are the type (a dictionary of texts), the time in ticks of the clock, and then
    the attributes by name, all that `columns` lists. Its events may be in any order. Batches may overlap in time by the
    allowed `lateness` (in ticks); older events are put into `late`.

    With `places`, windows count events: then all queries of the plan have such windows, and graphs are given the places
    of events instead of their times.
    """

    def __init__(
        self,
        plan: Plan,
        clock: Clock,
        numeric: str = "exact",
        lateness: int = 0,
        optimizer: SharingOptimizer | None = None,
        record_decisions: bool = False,
        hamlet_graph: type[HamletGraph] = HamletGraph,
        places: bool = False,
        beginning: Beginning | None = None,
        detection: DetectionSetting = ALONE,
        observes: bool = True,
    ) -> None:
        """Begin at the start of a stream, or in the middle of it, after what `beginning` says that it had before.

        With `observes`, statistics of the stream are counted, for `Replanner`.
        """
        self._observes = observes
        self.plan = plan
        self.clock = clock
        self.numeric = numeric
        self.reorder = Reorder(lateness)
        self.places = Places(beginning) if places else None
        self._detection = detection
        self._windows_clock = Clock.of_events() if places else clock
        self.dropped = 0
        """Number of events with a null in an attribute that splits the stream."""
        self.late_events = LateEvents()
        self._partitions: dict[tuple[tuple[str, ...], int], Partitions] = {}
        self._setting = Setting(
            self._windows_clock,
            numeric == "exact",
            optimizer or optimizer_of(plan.strategy),
            record_decisions,
            hamlet_graph,
        )
        self._parts: list[Part | DetectionPart] = []
        self._decided: list[tuple[Decisions, list[str]]] = []
        """Decisions of retired share sets, with the names of their queries."""
        self._counted = np.zeros(3, np.int64)
        """Totals of retired share sets."""
        self.change(plan)

    def runs(self, kind: SetKind[Any] | None = None) -> list[SetRun[Any]]:
        """Return the runs of the share sets of a kind; by default, of all kinds."""
        return [run for part in self._parts for run in part.sets if kind is None or run.kind == kind.tag]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the attributes that batches must have; during a change, those of both plans."""
        return tuple(sorted({column for part in self._parts for column in part.plan.columns}))

    @property
    def moment(self) -> int:
        """Return the earliest time from which another plan may answer windows: later than every event seen so far, and
        no earlier than the last change."""
        return max([self._seen(), *(part.since for part in self._parts)])

    def _seen(self) -> int:
        if self.places is not None:
            return self.places.noted or START
        return START if self.reorder.watermark == START else self.reorder.watermark + self.reorder.lateness + 1

    @property
    def _reached(self) -> int:
        """Return the watermark, on the clock of windows."""
        return self.reorder.watermark if self.places is None else self.places.passed

    @property
    def changing(self) -> bool:
        """Return whether windows of an earlier plan are still open."""
        return any(part.until != END for part in self._parts)

    def change(self, plan: Plan, since: int | None = None) -> None:
        """Switch to another plan, of the same queries or of others, at the time `since`; by default at `moment`.

        The new plan answers the windows that begin at `since` or later, and the old plan those that begin before it,
        each as if it were the only plan. A window that moves begins at `t - within`. So a new query has rows of the
        windows that begin at `since` or later. A removed query has no more rows at once, not even of open windows.

        Parts that both plans have continue unchanged. Until the windows of the old plan are over, batches must have the
        `columns` of both.
        """
        since = self._checked(plan, since)
        wanted, types = speaking(plan), self._types()
        made = list(parts_of(plan))
        for part in self._parts:
            same = next((n for n, one in enumerate(made) if part.goes_on_as(one)), None)
            if same is None:
                part.stop(since)
                part.silence(wanted)
            else:
                part.go_on_as(made.pop(same))
        self._parts += (self._begun(one, since, types) for one in made)
        self.plan = plan
        self.statistics = StreamStatistics.of(plan, self._windows_clock)
        """Numbers of events and bursts, from which `Replanner` looks for other plans."""
        self._end()

    def _checked(self, plan: Plan, since: int | None) -> int:
        """Return the time of a change to a plan, or raise an error where this engine cannot change to it then."""
        for span in plan.spans:
            if (span * self._windows_clock.ticks_per_second).denominator != 1:
                message = f"a window or slide of {show_length(span)} is no whole number of this engine's ticks"
                hint = (
                    f"{self.clock.ticks_per_second} of them are a second; begin with a clock that counts such lengths"
                )
                raise WorkloadError([Problem(message, hint)])
        if self.places is not None:
            # The moment is told as a time; all engines of a stream have counted the same events.
            return self.moment
        if since is not None and since < self.moment:
            raise ValueError(f"no other plan can answer from {since} on: {self.moment} is the earliest moment for one")
        return self.moment if since is None else since

    def _types(self) -> dict[str, pa.DataType]:
        found: dict[str, pa.DataType] = {}
        for part in self._parts:
            for name, kind in part.types().items():
                if name not in found or pa.types.is_floating(kind):
                    found[name] = kind
        return found

    def _begun(self, plan: Plan, since: int, types: dict[str, pa.DataType]) -> Part | DetectionPart:
        """Create a part. Parts of queries that split the stream alike share one numbering of the partitions."""
        query = plan.queries[0]
        attributes, groups = query.partition, len(query.query.groups)
        partitions = self._partitions.setdefault((attributes, groups), Partitions(attributes, groups))
        part: Part | DetectionPart
        if query.query.detects:
            clocks = self._windows_clock, self.clock
            part = DetectionPart(plan, partitions, since, *clocks, self._detection)
        else:
            part = Part(plan, partitions, since, self._setting)
        part.know(types)
        return part

    def _end(self) -> None:
        """Retire the parts whose windows are over."""
        gone = [part for part in self._parts if part.over(self._reached)]
        if not gone:
            return
        self._parts, left = gone, [part for part in self._parts if part not in gone]
        self._decided = self._decisions()
        self._counted = self._counted + sum(run.graph.totals for run in self.runs())
        self._parts = left
        used = {id(part.partitions) for part in self._parts}
        self._partitions = {key: one for key, one in self._partitions.items() if id(one) in used}

    def feed(self, batch: pa.RecordBatch) -> list[Rows]:
        """Take in a batch, and return the rows of all windows that the watermark has passed."""
        return list(self.feeding(batch))

    def feeding(self, batch: pa.RecordBatch) -> Iterator[Rows]:
        """Take in a batch as `feed` does, and yield its rows; matches are searched as they are taken."""
        return (rows.finished() for rows in self.feeding_partial(batch))

    def finish(self) -> list[Rows]:
        """End the stream, and return the rows of all windows that are still open."""
        return list(self.finishing())

    def finishing(self) -> Iterator[Rows]:
        """End the stream as `finish` does, and yield its last rows; matches are searched as they are taken."""
        return (rows.finished() for rows in self.finishing_partial())

    def feed_partial(
        self, batch: pa.RecordBatch, watermark: int | None = None, times: npt.NDArray[np.int64] | None = None
    ) -> list[PartialRows]:
        """Take in a batch of a part of the stream, and return its partial rows; arguments as in `feeding_partial`."""
        return list(self.feeding_partial(batch, watermark, times))

    def finish_partial(self) -> list[PartialRows]:
        """End a part of the stream as `finish` does, and return partial rows."""
        return list(self.finishing_partial())

    def feeding_partial(
        self, batch: pa.RecordBatch, watermark: int | None = None, times: npt.NDArray[np.int64] | None = None
    ) -> Found:
        """Take in a batch of a part of the stream, and return its partial rows as they are taken.

        `watermark` is that of the whole stream. `times` are those of all events of the stream in this batch, for
        windows that count events. The state is that after the batch at once, however many of the matches were taken.
        """
        if self.places is not None:
            self.places.note(batch.column(1).to_numpy() if times is None else times, self.reorder.watermark)
        ready, late = self.reorder.feed(batch, watermark)
        if late is not None:
            self.late_events.note(late)
        if ready is None:
            return Found()
        ready = self._placed(ready, self.reorder.watermark)
        found = self._process(ready, self._reached)
        for part in self._parts:
            found.add(part.end_until(self._reached))
        self._end()
        self._forget()
        return found

    def _placed(self, ready: pa.RecordBatch, watermark: int) -> pa.RecordBatch:
        """Return events that the watermark has passed, with places instead of times where windows count events."""
        if self.places is None:
            return ready
        if any(query.query.detects for query in self.plan.queries):
            # Matches have the times of their events, too.
            ready = ready.append_column(TICKS, ready.column(1))
        placed = self.places.of(ready.column(1).to_numpy())
        self.places.advance(watermark)
        for part in self._parts:
            part.since = max(part.since, self.places.first)
        return ready.set_column(1, ready.schema.field(1), pa.array(placed))

    def look(self, batch: pa.RecordBatch) -> Observed | None:
        """Return the statistics of events, sorted by time, as a sample of the stream, without taking them in."""
        statistics = StreamStatistics.of(self.plan, self._windows_clock)
        times = batch.column(1).to_numpy()
        if self.places is not None:
            sample = Places()
            sample.note(times, START)
            batch = batch.set_column(1, batch.schema.field(1), pa.array(sample.of(times)))
        events = self._named(batch)
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        query = self.plan.queries[0]
        slots = Partitions(query.partition, len(query.query.groups)).slots(columns, events.column(1).to_numpy())
        statistics.note(events.column(0), events.column(1), slots)
        return statistics.read_and_reset()

    def finishing_partial(self) -> Found:
        """End a part of the stream, and return its last partial rows as they are taken."""
        waiting = self.reorder.finish()
        found = self._process(self._placed(waiting, END), END) if waiting is not None else Found()
        for part in self._parts:
            found.add(part.finish())
        return found

    def _process(self, batch: pa.RecordBatch, later: int) -> Found:
        """Take in events, sorted by time; no later event is older than `later`."""
        found = Found()
        for whole, after in _slices(self._named(batch), later):
            for number, partitions in enumerate(self._partitions.values()):
                parts = [part for part in self._parts if part.partitions is partitions]
                # Events from before a change may lack columns that the new plan reads.
                needed = _between(whole, min(part.first for part in parts), max(part.end for part in parts))
                if needed.num_rows:
                    events = self._batch(partitions, needed, after)
                    if number == 0 and self._observes:
                        self.statistics.note(events.types, needed.column(1), events.slots)
                    for part in parts:
                        found.add(part.process(events))
        return found

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Drop the events of types that no query names, unless a contiguous query has to see them."""
        plans = [part.plan for part in self._parts]
        if any(one.query.semantics == "contiguous" for plan in plans for one in plan.queries):
            return batch
        known = frozenset[str]().union(*(plan.types for plan in plans))
        types = batch.column(0)
        wanted = np.array([name in known for name in types.dictionary.to_pylist()], np.bool_)
        if wanted.all():
            return batch
        return batch.take(pa.array(np.flatnonzero(wanted[types.indices.to_numpy()])))

    def _batch(self, partitions: Partitions, events: pa.RecordBatch, later: int) -> Batch:
        types, times, *attributes = events.columns
        columns = dict(zip(events.schema.names[2:], attributes, strict=True))
        ticks = np.require(times.to_numpy(), requirements=["W"])
        slots = partitions.slots(columns, ticks)
        missing = int(np.count_nonzero(slots < 0))
        self.dropped += missing
        partitions.dropped += missing
        return Batch(types, ticks, columns, slots, later)

    def _forget(self) -> None:
        """Forget the partitions whose last event has left every window."""
        lengths = (query.query.within.length for part in self._parts for query in part.plan.queries)
        longest = self._windows_clock.ticks(max(lengths, default=Fraction(0)))
        for partitions in self._partitions.values():
            kept = partitions.forget(self._reached - longest)
            if kept is not None:
                self._keep(partitions, kept)

    def _keep(self, partitions: Partitions, kept: npt.NDArray[np.int64]) -> None:
        if partitions is next(iter(self._partitions.values())):
            self.statistics.keep(kept)
        for part in self._parts:
            if part.partitions is partitions:
                part.keep(kept)

    def keep(self, keys: Sequence[str], groups: int, own: range) -> None:
        """Keep only partitions and waiting events whose key group (of `groups`, by these attributes) is in `own`."""
        for partitions in self._partitions.values():
            if not partitions.count:
                continue
            found = key_groups(partitions.columns(keys), partitions.count, groups)
            kept = np.flatnonzero((found >= own.start) & (found < own.stop))
            partitions.keep(kept)
            self._keep(partitions, kept)

        def wanted(waiting: pa.RecordBatch) -> npt.NDArray[np.bool_]:
            found = key_groups([waiting.column(name) for name in keys], waiting.num_rows, groups)
            return (found >= own.start) & (found < own.stop)

        self.reorder.keep(wanted)

    @property
    def dropped_by_way(self) -> dict[tuple[tuple[str, ...], int], int]:
        """Return the numbers of dropped events by the attributes that split the stream, and how many of them group."""
        return {way: partitions.dropped for way, partitions in self._partitions.items()}

    @property
    def totals(self) -> tuple[int, int, int]:
        """Return the numbers of bursts decided about, of bursts shared, and of snapshots."""
        bursts, shared, snapshots = (self._counted + sum(run.graph.totals for run in self.runs())).tolist()
        return bursts, shared, snapshots

    def work(self) -> list[WorkDone]:
        """Return what the parts of the present plan have done so far."""
        return [one for part in self._parts for one in part.work()]

    @property
    def decision_seconds(self) -> float:
        """Return the seconds that all decisions took."""
        return sum(one.seconds for one, _ in self._decisions())

    def decisions(self) -> pa.Table:
        """Return a table of what was decided about every burst; it is empty unless decisions are recorded."""
        decided = self._decisions()
        return decisions_table([one for one, _ in decided], [names for _, names in decided], self.clock)

    def stored(self) -> pa.Table:
        """Return a table of the matches that were stored of each batch; it is empty unless that is recorded."""
        return stored_table(self._records(), self.clock)

    def _records(self) -> list[StoredRecord]:
        return [part.record for part in self._parts if part.record is not None]

    def forget_records(self, but: int) -> None:
        """Forget what was decided and stored, all but the last `but` bursts of each share set, and batches."""
        for one, _ in self._decisions():
            one.forget(but)
        for record in self._records():
            record.forget(but)

    def _decisions(self) -> list[tuple[Decisions, list[str]]]:
        own = ((run.graph.decisions, run.names) for run in self.runs())
        return [*self._decided, *((decisions, names) for decisions, names in own if decisions is not None)]

    def save(self) -> bytes:
        """Return the state as bytes: everything that later rows depend on."""
        return pack(
            signed(
                {
                    "numeric": self.numeric,
                    "clock": self.clock.save(),
                    "lateness": self.reorder.lateness,
                    "reorder": self.reorder.save(),
                    "places": self.places and self.places.save(),
                    "dropped": self.dropped,
                    "partitions": [[*key, partitions.save()] for key, partitions in self._partitions.items()],
                    "parts": [part.save() for part in self._parts],
                }
            )
        )

    @classmethod
    def restore(
        cls,
        plan: Plan,
        data: bytes,
        optimizer: SharingOptimizer | None = None,
        record_decisions: bool = False,
        since: int | None = None,
        detection: DetectionSetting = ALONE,
    ) -> Engine:
        """Return an engine in the state that `save` returned, in the middle of a change or not.

        The state says which parts the engine has. If `plan` differs from the plan that was saved, the engine changes to
        it at `since`. States are the same for all shares of a stream.
        """
        state = checked(unpack(data))
        nothing = Plan(plan.strategy, ())
        with reading():
            clock = Clock.load(state["clock"])
            places = state.get("places") is not None
            engine = cls(
                nothing,
                clock,
                state["numeric"],
                state["lateness"],
                optimizer,
                record_decisions,
                places=places,
                detection=detection,
            )
            engine._load(state)
        engine.change(plan, since)
        return engine

    def _load(self, state: dict[str, Any]) -> None:
        self.reorder.load(state["reorder"])
        if self.places is not None:
            self.places.load(state["places"])
        self.dropped = state["dropped"]
        for attributes, groups, saved in state["partitions"]:
            partitions = Partitions(tuple(attributes), groups)
            partitions.load(saved)
            self._partitions[tuple(attributes), groups] = partitions
        for saved in state["parts"]:
            part = self._begun(load_plan(saved["plan"]), saved["since"], {})
            part.load(saved)
            self._parts.append(part)


def _slices(batch: pa.RecordBatch, later: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Cut a batch where the time changes, and yield each slice with the time before which no later event comes."""
    times = batch.column(1).to_numpy()
    start = 0
    while start < len(times):
        end = min(start + SLICE_EVENTS, len(times))
        if end < len(times):
            end = int(np.searchsorted(times, times[end - 1], side="right"))
        yield batch.slice(start, end - start), int(times[end]) if end < len(times) else later
        start = end


def _between(batch: pa.RecordBatch, first: int, end: int) -> pa.RecordBatch:
    """Return the events of a batch sorted by time, from the time `first` on and before the time `end`."""
    times = batch.column(1).to_numpy()
    lo, hi = (int(np.searchsorted(times, time)) for time in (first, end))
    return batch.slice(lo, hi - lo)
