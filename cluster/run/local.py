"""Run a plan over a source in one process."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from elsinore.actors.streams.reorder import one_batch
from elsinore.cluster.machines.costs import burst_costs, cost_model, plan_costs
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.auto import chosen_for
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import joined, split_by
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from elsinore.actors.shells.graph_actor import Counts

MIN_EVENTS = 4_096
"""The least number of events in a first batch whose statistics are used to choose a plan."""


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
    ) -> None:
        """With `whole`, all events are read first, and none of them is late; they have to fit into memory."""
        self.whole = whole
        self.source = source
        self.clock = Clock.of(source.form, source.time_unit, (*plan.spans, lateness))
        decider = optimizer or optimizer_of(plan.strategy, cost_model())
        late = self.clock.ticks(lateness)
        self.engines = [
            Engine(
                one,
                self.clock,
                numeric,
                late,
                decider,
                record_decisions,
                places=counts_events(one),
                most_matches=most_matches,
            )
            for one in split_by(plan, lambda query: query.counts_events)
        ]
        """One for windows of time, and one for windows of events; both are given all events."""
        self.engines[0].on_late = lambda events: source.bury_late(events, self.clock)
        self.metrics = Metrics()

    @property
    def plan(self) -> Plan:
        """The plan by now; `auto` may plan again after the first batch."""
        plans = [engine.plan for engine in self.engines]
        return plans[0] if len(plans) == 1 else joined(plans[0].strategy, plans)

    @property
    def late(self) -> list[pa.RecordBatch]:
        return self.engines[0].late

    @property
    def decisions(self) -> pa.Table:
        """The decision about every burst, if decisions are recorded."""
        return pa.concat_tables([engine.decisions() for engine in self.engines])

    def __iter__(self) -> Iterator[Rows]:
        for number, batch in enumerate(self._batches()):
            for engine in self.engines:
                if number == 0 and _is_typical(engine.plan, batch):
                    _choose(engine, batch)
            self.metrics.events += batch.num_rows
            for engine in self.engines:
                yield from self._counted(engine.feeding(batch))
        for engine in self.engines:
            yield from self._counted(engine.finishing())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        read = self.source.batches(self.clock, self.plan.columns)
        if not self.whole:
            return read
        batches = list(read)
        return iter(batches if len(batches) < 2 else [one_batch(batches)])

    def _counted(self, found: Iterable[Rows]) -> Iterator[Rows]:
        self.metrics.late = self.engines[0].late_count
        self.metrics.dead = self.source.dead
        self.metrics.dropped = sum(engine.dropped for engine in self.engines)
        metrics = self.metrics
        totals = [engine.totals for engine in self.engines]
        metrics.bursts, metrics.shared_bursts, metrics.snapshots = (sum(one) for one in zip(*totals, strict=True))
        metrics.decision_seconds = sum(engine.decision_seconds for engine in self.engines)
        for rows in found:
            self.metrics.rows += len(rows)
            yield rows


def counts_events(plan: Plan) -> bool:
    """Return whether the windows of a plan count events."""
    return any(query.query.counts_events for query in plan.queries)


def _is_typical(plan: Plan, batch: pa.RecordBatch) -> bool:
    """Return whether to choose a plan by the statistics of this batch.

    They say little about partitions unless all queries split the stream alike.
    """
    alike = len({query.partition for query in plan.queries}) == 1
    return plan.strategy == "auto" and alike and len(batch) >= MIN_EVENTS


def _choose(engine: Engine, batch: pa.RecordBatch) -> None:
    """Plan again with the statistics of the first batch; before the first event a change of plan costs nothing."""
    seen = engine.look(batch)
    if seen is not None:
        within = max(query.query.within.length for query in engine.plan.queries)
        model = EngineCost(seen.per_window(within), plan_costs(), burst_costs())
        engine.change(chosen_for(engine.plan, model))
