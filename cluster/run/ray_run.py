"""A run on Spark and Ray: slices of a stream through graph actors to the collector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from ray.exceptions import RayError

from elsinore.actors.rows.rows import Rows
from elsinore.actors.shells.graph_actor import Duty, Receipt
from elsinore.actors.shells.replanner import plan_along
from elsinore.cluster.machines.costs import cost_model
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.run.collecting import Collecting
from elsinore.cluster.run.crew import Batch, Crew
from elsinore.cluster.run.local import Metrics
from elsinore.connectors.errors import FailedError
from elsinore.connectors.sources import Source
from elsinore.connectors.spark.dealing import BEGINNING, Deal, in_slices, seeds
from elsinore.connectors.spark.handover import Blocks, Handed
from elsinore.connectors.spark.slices import Slice, at_panes, by_cuts, in_one, in_order, read_by
from elsinore.connectors.spark.sources import Events, quantiles, spark_events
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.routes import Ranges, routes
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


TOLD = "elsinore"
"""What Spark counts on the way."""

PARTS = 4
"""Partitions of Spark's in a slice, or more: what is read at once."""


class RayRun:
    """Iterating it runs the plan over a source that has an end; rows come as their windows close."""

    def __init__(
        self,
        plan: Plan,
        source: Source,
        settings: Settings,
        *,
        numeric: str = "exact",
        record_decisions: bool = False,
    ) -> None:
        self.plan = plan
        self.source = source
        self.settings = settings
        self.clock = Clock.of(source.form, source.time_unit, plan.spans)
        self.metrics = Metrics()
        self.late: list[pa.RecordBatch] = []
        self.cuts: tuple[int, ...] | None = None
        """Where Spark has to cut the stream, once that is known."""
        self.batches: int | None = None
        self.handed: dict[int, Handed] = {}
        """By batch, its blocks."""
        self.received = 0
        """The last batch whose rows are here."""
        self.finished = False
        self.routes = routes(plan.workload)
        types = tuple(sorted(plan.types))
        self.policy = optimizer_of(plan.strategy, cost_model())
        plans = tuple(plan_along(route, plan) for route in self.routes)
        self.duty = Duty(self.routes, plans, types, self.clock.save(), numeric, self.policy, record_decisions)
        self.record_decisions = record_decisions
        self.decisions = pa.table({})

    def __iter__(self) -> Iterator[Rows]:
        begun, settings = session(self.settings), self.settings
        ranges = Ranges.even(settings.key_groups, settings.actors)
        self.deal = Deal(self.routes, ranges.groups, self.duty.types)
        crew = Crew(self.duty, ranges, begun.pool, begun.pool.optimizer(self.policy), settings.restarts)
        collecting = Collecting(begun.pool, settings.restarts)
        try:
            with spark_events(self.source, self.clock, self.plan.columns) as events:
                while not self.finished:
                    try:
                        yield from self._dealt(crew, collecting, events, begun.spark)
                    except (Py4JError, RayError, FailedError):
                        if not begun.spark_lost or not crew.failures.spend(self.received):
                            raise
                        crew.withdraw(self.received + 1)
            if self.record_decisions:
                self.decisions = _recorded(crew.ask("decisions"))
        finally:
            crew.dismiss()
            collecting.dismiss()

    def progress(self) -> float | None:
        """The fraction of the stream whose rows are here; before Spark is done with it nobody knows."""
        return None if self.batches is None else self.received / self.batches

    def _dealt(self, crew: Crew, collecting: Collecting, events: Events, spark: Any) -> Iterator[Rows]:
        """The rows of all slices whose rows are not there yet."""
        dealt, slices = self._sliced(events, spark)
        with closing(Blocks(dealt)) as blocks:
            self._count(dealt, events)
            found = slices or in_one(len(blocks))
            self.batches = len(found) + 1
            self.handed = {number: Handed(blocks, one.partitions) for number, one in enumerate(found, start=1)}
            for batch in self._batches(found):
                crew.send(batch)
                if len(crew.waiting) > self.settings.ahead:
                    yield from self._received(crew, collecting)
            while crew.waiting:
                yield from self._received(crew, collecting)
        self.finished = True

    def _batches(self, slices: Sequence[Slice]) -> Iterator[Batch]:
        """A batch for each slice, and one that says that there are no more; of these, those that are not there yet."""
        for number, one in enumerate(slices, start=1):
            if number > self.received:
                yield Batch(number, one.watermark, partial(self._blocks, number))
        yield Batch(len(slices) + 1, BEGINNING, lambda _: (), last=True)

    def _blocks(self, number: int, place: int) -> Sequence[Any]:
        """Of a batch; where Spark was begun anew meanwhile, those that it has now."""
        return self.handed[number](place)

    def _sliced(self, events: Events, spark: Any) -> tuple[DataFrame, list[Slice] | None]:
        """The events as they are handed over, and in which slices; None is all at once."""
        total, size = self.source.total, self.settings.slice_events
        clean = events(spark)
        dealt = self.deal.dealt(clean if self._known(events) else clean.observe(TOLD, *self.deal.counts()))
        if total is None or total <= size:
            return dealt, None
        _read_in_parts(spark, events.bytes * size // (PARTS * total))
        pane = int(np.gcd.reduce([self.clock.ticks(span) for span in self.plan.spans]))
        groups = events.groups
        found = in_order(read_by(dealt), groups, size, pane) if groups else None
        if found:
            return dealt, found
        if self.cuts is None:
            self.cuts = at_panes(quantiles(clean, -(-total // size)), pane)
        return in_slices(dealt, self.cuts, seeds(spark, len(self.cuts) + 1)), by_cuts(self.cuts)

    def _known(self, events: Events) -> bool:
        """Is it known without a look at them that all events are good, and how many there are? To count them costs."""
        return self.source.total is not None and events.whole(name for route in self.routes for name in route.partition)

    def _count(self, dealt: DataFrame, events: Events) -> None:
        metrics = self.metrics
        if self._known(events):
            metrics.dead = self.source.dead
            metrics.events = (self.source.total or 0) - metrics.dead
            return
        observed = dealt._jdf.queryExecution().observedMetrics().apply(TOLD)
        dead = int(observed.getAs("dead"))
        metrics.events, metrics.dead = int(observed.getAs("events")) - dead, dead + self.source.dead
        metrics.dropped = int(observed.getAs("dropped"))

    def _received(self, crew: Crew, collecting: Collecting) -> Iterator[Rows]:
        batch, receipts, parts = crew.receive()
        found = collecting.collect(parts)
        crew.commit(batch)
        if batch in self.handed:
            self.handed[batch].let_go()
        self.received = batch
        self._note(receipts)
        for rows in found:
            self.metrics.rows += len(rows)
            yield rows

    def _note(self, receipts: Sequence[Receipt]) -> None:
        self.late += [batch for receipt in receipts for batch in receipt.late]
        self.metrics.late = sum(receipt.counts.late for receipt in receipts)
        self.metrics.note(receipt.counts for receipt in receipts)


def _read_in_parts(spark: Any, size: int) -> None:
    """So many bytes of a file are a partition of Spark's, at most."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", max(size, 1))


def _recorded(found: Sequence[Sequence[pa.Table]]) -> pa.Table:
    """What all actors decided, in order of time."""
    tables = [table for tables in found for table in tables]
    return pa.concat_tables(tables, promote_options="permissive").sort_by([("time", "ascending")])
