"""Run a plan over a source in one process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from elsinore.actors.detection.run import DetectionSetting
from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from elsinore.actors.streams.late import LateEvents
from elsinore.actors.streams.reorder import Reorder, one_batch
from elsinore.cluster.machines.costs import burst_costs, cost_model, plan_costs
from elsinore.cluster.run.engine_threads import EngineThreads, dealt_plans
from elsinore.cluster.run.plan_sample import MIN_EVENTS, sample_of
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.kernels.interpreted import MAX_STEPS, interpreting_each
from elsinore.planner.plans.auto import chosen_for, seeing_panes
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.parts import joined, split_by
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from elsinore.actors.shells.graph_actor import Counts

MIN_SHARED_EVENTS = 1 << 18
"""The least number of events in a first batch for which several threads are worth their start.

To make the engines of another thread takes some 40 ms where a workload has a hundred queries; their events may take
0.2 microseconds each."""


class EventSource(Protocol):
    """A source of events as `elsinore.connectors.sources` opens it."""

    @property
    def form(self) -> pa.DataType: ...

    @property
    def time_unit(self) -> str: ...

    @property
    def dead(self) -> int: ...

    def batches(self, clock: Clock, columns: Collection[str]) -> Iterator[pa.RecordBatch]: ...

    def bury_late(self, events: pa.RecordBatch, clock: Clock) -> None: ...


SUMMED_COUNTERS = (
    "bursts", "shared_bursts", "snapshots", "decision_seconds", "questions", "missed", "waited", "seconds",
)  # fmt: skip
"""Counters of graph actors that the metrics of a run sum up."""


@dataclass
class Metrics:
    """The counters of a run so far."""

    events: int = 0
    """Events that could be read, including late and dropped ones."""
    rows: int = 0
    late: int = 0
    dead: int = 0
    dropped: int = 0
    """Events with a null in an attribute that splits the stream, counted once per way to split it."""
    bursts: int = 0
    """Bursts with a decision to make: those of Kleene sub-patterns that several queries have."""
    shared_bursts: int = 0
    """Bursts among them whose graphlet several queries shared."""
    snapshots: int = 0
    """Snapshots that shared graphlets created."""
    decision_seconds: float = 0.0
    """Seconds that all decisions took."""
    questions: int = 0
    """Requests to the optimizer actor, on Ray."""
    missed: int = 0
    """Requests without a reply in time, and those skipped for a while after one; the actor's own policy decides."""
    waited: float = 0.0
    """Seconds that all actors together waited for replies."""
    seconds: float = 0.0
    """Seconds that all actors together spent on batches."""
    hand_over: str = ""
    """How actors get events, on Ray: `shared`, all of them read all blocks; `dealt`, each gets its own alone."""

    def note(self, counts: Iterable[Counts]) -> None:
        """Set the counters to the sums over all graph actors."""
        all_counts = list(counts)
        for name in SUMMED_COUNTERS:
            setattr(self, name, sum(getattr(one, name) for one in all_counts))


class LocalRun:
    """A run of a plan over a source: iterating it yields rows as their windows close."""

    def __init__(
        self,
        plan: Plan,
        source: EventSource,
        *,
        numeric: str = "exact",
        lateness: Fraction = Fraction(0),
        optimizer: SharingOptimizer | None = None,
        record_decisions: bool = False,
        most_matches: int | None = None,
        whole: bool = False,
        cores: int = 1,
    ) -> None:
        """Prepare a run with up to `cores` threads, which share the partitions of a long stream.

        With `whole`, all events are read first, and none of them is late; they have to fit into memory.
        """
        self.whole = whole
        self.cores = 1 if record_decisions else cores
        self.source = source
        self.clock = Clock.of(source.form, source.time_unit, (*plan.spans, lateness))
        self._make = partial(
            Engine,
            clock=self.clock,
            numeric=numeric,
            optimizer=optimizer or optimizer_of(plan.strategy, cost_model()),
            record_decisions=record_decisions,
            detection=DetectionSetting(most_matches),
            observes=False,
        )
        self._begun = False
        self._exact = numeric == "exact"
        self.threads = [
            EngineThreads([self._make(one, places=counts_events(one))])
            for one in split_by(plan, lambda query: query.counts_events)
        ]
        """One for windows of time, and one for windows of events; all are given all events."""
        self.reorder = Reorder(self.clock.ticks(lateness))
        self.late_events = LateEvents()
        self.metrics = Metrics()

    @property
    def engines(self) -> list[Engine]:
        return [engine for one in self.threads for engine in one.engines]

    @property
    def plan(self) -> Plan:
        """Return the plan by now; `auto` may plan again after the first batch."""
        plans = [one.plan for one in self.threads]
        return plans[0] if len(plans) == 1 else joined(plans[0].strategy, plans)

    @property
    def late(self) -> list[pa.RecordBatch]:
        return self.late_events.kept

    @property
    def decisions(self) -> pa.Table:
        """Return the decision about every burst, if decisions are recorded."""
        return pa.concat_tables([engine.decisions() for engine in self.engines])

    def __iter__(self) -> Iterator[Rows]:
        try:
            for batch in self._batches():
                self.metrics.events += batch.num_rows
                ready, late = self.reorder.feed(batch)
                if late is not None:
                    self.late_events.note(late)
                    self.source.bury_late(late, self.clock)
                if ready is not None:
                    yield from self._tiered(self._taken(ready, self.reorder.watermark))
            yield from self._tiered(self._finished())
        finally:
            for one in self.threads:
                one.close()

    def _tiered(self, found: Iterator[Rows]) -> Iterator[Rows]:
        """Yield rows, and interpret kernels on the way if there are few events."""
        few = _steps(self.plan, self.metrics.events) <= MAX_STEPS
        return interpreting_each(found) if few else found

    def _begin(self, first: pa.RecordBatch) -> None:
        """Choose the plan by the first events, and deal partitions out over the cores if there are many events."""
        for engine in self.engines:
            if _may_choose(engine.plan) and len(first) >= MIN_EVENTS:
                _choose(engine, first)
        if self.cores > 1 and len(first) >= MIN_SHARED_EVENTS:
            plans = (found for one in self.threads for found in dealt_plans(one.plan, self._exact))
            self.threads = [self._sharing(*found) for found in plans]

    def _sharing(self, keys: tuple[str, ...], plan: Plan) -> EngineThreads:
        places = counts_events(plan)
        return EngineThreads([self._make(plan, places=places) for _ in range(self.cores if keys else 1)], keys)

    def _taken(self, ready: pa.RecordBatch, watermark: int) -> Iterator[Rows]:
        if not self._begun:
            self._begun = True
            self._begin(ready)
        for one in self.threads:
            yield from self._counted(one.feed(ready, watermark))

    def _finished(self) -> Iterator[Rows]:
        waiting = self.reorder.finish()
        if waiting is not None and len(waiting):
            yield from self._taken(waiting, int(waiting.column(1)[-1].as_py()))
        for one in self.threads:
            yield from self._counted(one.finish())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        read = self.source.batches(self.clock, self.plan.columns)
        if not self.whole:
            return read
        batches = list(read)
        return iter(batches if len(batches) < 2 else [one_batch(batches)])

    def _counted(self, found: Iterable[Rows]) -> Iterator[Rows]:
        self._count()
        for rows in found:
            self.metrics.rows += len(rows)
            yield rows
        self._count()

    def _count(self) -> None:
        metrics, engines = self.metrics, self.engines
        metrics.late = self.late_events.count
        metrics.dead = self.source.dead
        metrics.dropped = self._dropped()
        metrics.bursts, metrics.shared_bursts, metrics.snapshots = (
            sum(one) for one in zip(*(engine.totals for engine in engines), strict=True)
        )
        metrics.decision_seconds = sum(engine.decision_seconds for engine in engines)

    def _dropped(self) -> int:
        """Return the number of dropped events. Those that split the stream alike have dropped the same ones."""
        most = Counter[Any]()
        for one in self.threads:
            most |= sum((Counter(engine.dropped_by_way) for engine in one.engines), Counter[Any]())
        return most.total()


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def counts_events(plan: Plan) -> bool:
    """Return whether the windows of a plan count events."""
    return any(query.query.counts_events for query in plan.queries)


def _steps(plan: Plan, events: int) -> int:
    """Estimate the steps that kernels take: for each event one in each of its windows, or at each event before it."""
    return sum(events * (events if _compares_events(one) else one.overlap) for one in plan.queries)


def _compares_events(query: QueryPlan) -> bool:
    return query.per_event or any(query.keeps_events(counter) for counter in query.counters)


def _may_choose(plan: Plan) -> bool:
    """Return whether statistics may tell another plan: there are several queries.

    Statistics of a sample say little about partitions unless all queries split the stream alike.
    """
    several = len(plan.queries) > 1 and not all(query.query.detects for query in plan.queries)
    return plan.strategy == "auto" and several and len({query.partition for query in plan.queries}) == 1


def _choose(engine: Engine, first: pa.RecordBatch) -> None:
    """Plan again with the statistics of the first events; before the first event a change of plan costs nothing."""
    within = max(query.query.within.length for query in engine.plan.queries)
    # Windows of events are those of the whole stream, whatever partitions the events are in.
    keys = engine.plan.queries[0].partition if engine.places is None else ()
    sample, parts = sample_of(first, keys, engine.clock.ticks(within))
    seen = engine.look(sample)
    if seen is not None:
        costs = plan_costs().of_exact() if engine.numeric == "exact" else plan_costs()
        model = EngineCost(seen.per_window(within, parts), costs, burst_costs())
        engine.change(chosen_for(seeing_panes(engine.plan, model), model, len(first)))
