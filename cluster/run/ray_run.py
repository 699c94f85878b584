"""Run a plan on Spark and Ray: pass slices of a bounded source through graph actors to the collector."""

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
from elsinore.cluster.run.collecting import SupervisedCollector
from elsinore.cluster.run.crew import Crew, NumberedBatch
from elsinore.cluster.run.dealing import dealing
from elsinore.cluster.run.local import Metrics
from elsinore.connectors.errors import FailedError
from elsinore.connectors.sources import Source
from elsinore.connectors.spark.dealing import BEGINNING, Deal, in_slices, seeds
from elsinore.connectors.spark.handover import BlockReferences, SparkBlocks
from elsinore.connectors.spark.java_objects import observed_values
from elsinore.connectors.spark.run_events import Events, quantiles, spark_events
from elsinore.connectors.spark.slices import Slice, at_panes, by_cuts, in_one, in_order, read_by
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.hand_over import chosen_hand_over
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.routes import Ranges, routes
from elsinore.planner.time.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


OBSERVATION_NAME = "elsinore"
"""The name of Spark's observation that counts the events."""

MIN_PARTITIONS = 4
"""The least number of Spark partitions in a slice."""


class RayRun:
    """A run of a plan over a bounded source: iterating it yields rows as their windows close."""

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
        """The times at which Spark cuts the stream into slices, once they are computed."""
        self.batches: int | None = None
        self.handed: dict[int, BlockReferences] = {}
        """The blocks of each batch."""
        self.received = 0
        """The last batch whose rows are collected."""
        self.finished = False
        self.routes = routes(plan.workload, spread=settings.actors > 1)
        types = tuple(sorted(plan.types))
        self.policy = optimizer_of(plan.strategy, cost_model())
        plans = tuple(plan_along(route, plan) for route in self.routes)
        self.duty = Duty(
            self.routes,
            plans,
            types,
            self.clock.save(),
            numeric,
            self.policy,
            record_decisions,
            places=settings.actors,
            unsafe=settings.ahead + 1,
        )
        self.record_decisions = record_decisions
        self.decisions = pa.table({})

    def __iter__(self) -> Iterator[Rows]:
        ray_session, settings = session(self.settings), self.settings
        ranges = Ranges.even(settings.key_groups, settings.actors)
        numbered = any(route.lists_matches for route in self.routes)
        self.deal = Deal(self.routes, ranges.groups, self.duty.types, numbered=numbered)
        way = chosen_hand_over(self.routes, settings.actors, ray_session.several_nodes, settings.hand_over)
        self.dealing = dealing(way, ray_session.pool, ranges, self.routes)
        self.metrics.hand_over = way.way
        crew = Crew(self.duty, ranges, ray_session.pool, ray_session.pool.optimizer(self.policy), settings.restarts)
        collecting = SupervisedCollector(ray_session.pool, settings.restarts)
        try:
            with spark_events(self.source, self.clock, self.plan.columns, numbered) as events:
                while not self.finished:
                    try:
                        yield from self._dealt(crew, collecting, events, ray_session.spark)
                    except (Py4JError, RayError, FailedError):
                        if not ray_session.spark_lost or not crew.failures.spend(self.received):
                            raise
                        crew.withdraw(self.received + 1)
            if self.record_decisions:
                self.decisions = _recorded(crew.ask("decisions"))
        finally:
            crew.dismiss()
            collecting.dismiss()

    def progress(self) -> float | None:
        """Return the fraction of batches whose rows are collected; None until Spark has computed the blocks."""
        return None if self.batches is None else self.received / self.batches

    def _dealt(self, crew: Crew, collecting: SupervisedCollector, events: Events, spark: Any) -> Iterator[Rows]:
        """Yield the rows of all slices that are not collected yet."""
        dealt, slices = self._sliced(events, spark)
        with closing(SparkBlocks(dealt)) as blocks:
            self._count(dealt, events)
            found = slices or in_one(len(blocks))
            self.batches = len(found) + 1
            self.handed = {
                number: BlockReferences(blocks, one.partitions, self.dealing)
                for number, one in enumerate(found, start=1)
            }
            for batch in self._batches(found):
                crew.send(batch)
                if len(crew.waiting) > self.settings.ahead:
                    yield from self._received(crew, collecting)
            while crew.waiting:
                yield from self._received(crew, collecting)
        self.finished = True

    def _batches(self, slices: Sequence[Slice]) -> Iterator[NumberedBatch]:
        """Yield a batch for each slice that is not collected yet, and one that ends the stream."""
        for number, one in enumerate(slices, start=1):
            if number > self.received:
                yield NumberedBatch(number, one.watermark, partial(self._blocks, number))
        yield NumberedBatch(len(slices) + 1, BEGINNING, lambda _: (), last=True)

    def _blocks(self, number: int, place: int) -> Sequence[Any]:
        """Return the blocks of a batch for a place; if Spark was restarted since, the new ones."""
        return self.handed[number](place)

    def _sliced(self, events: Events, spark: Any) -> tuple[DataFrame, list[Slice] | None]:
        """Return the events as they are handed over, and their slices; None if all events form one slice."""
        total, size = self.source.total, self.settings.slice_events
        clean = events(spark)
        dealt = self.deal.dealt(clean if self._known(events) else clean.observe(OBSERVATION_NAME, *self.deal.counts()))
        if total is None or total <= size:
            return dealt, None
        _read_in_parts(spark, events.bytes * size // (MIN_PARTITIONS * total))
        pane = int(np.gcd.reduce([self.clock.ticks(span) for span in self.plan.spans])) or 1
        groups = events.groups
        found = in_order(read_by(dealt), groups, size, pane) if groups else None
        if found:
            return dealt, found
        if self.cuts is None:
            self.cuts = at_panes(quantiles(clean, -(-total // size)), pane)
        return in_slices(dealt, self.cuts, seeds(spark, len(self.cuts) + 1)), by_cuts(self.cuts)

    def _known(self, events: Events) -> bool:
        """Return whether the number of events and the absence of nulls are known without counting, which costs time."""
        return self.source.total is not None and events.whole(name for route in self.routes for name in route.partition)

    def _count(self, dealt: DataFrame, events: Events) -> None:
        metrics = self.metrics
        if self._known(events):
            metrics.dead = self.source.dead
            metrics.events = (self.source.total or 0) - metrics.dead
            return
        observed = observed_values(dealt, OBSERVATION_NAME)
        dead = int(observed.getAs("dead"))
        metrics.events, metrics.dead = int(observed.getAs("events")) - dead, dead + self.source.dead
        metrics.dropped = int(observed.getAs("dropped"))

    def _received(self, crew: Crew, collecting: SupervisedCollector) -> Iterator[Rows]:
        batch, receipts = crew.receive()
        for parts in crew.rows(batch):
            for rows in collecting.collect(parts):
                self.metrics.rows += len(rows)
                yield rows
        crew.commit(batch)
        if batch in self.handed:
            self.handed[batch].release()
        self.received = batch
        self._note(receipts)

    def _note(self, receipts: Sequence[Receipt]) -> None:
        self.late += [batch for receipt in receipts for batch in receipt.late]
        self.metrics.late = sum(receipt.counts.late for receipt in receipts)
        self.metrics.note(receipt.counts for receipt in receipts)


def _read_in_parts(spark: Any, size: int) -> None:
    """Set the most bytes of a file that Spark reads as one partition."""
    spark.conf.set("spark.sql.files.maxPartitionBytes", max(size, 1))


def _recorded(found: Sequence[Sequence[pa.Table]]) -> pa.Table:
    """Return the decisions of all actors, in order of time."""
    tables = [table for tables in found for table in tables]
    return pa.concat_tables(tables, promote_options="permissive").sort_by([("time", "ascending")])
