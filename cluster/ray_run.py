"""A run on Spark and Ray: slices of a stream through graph actors to the collector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from ray.exceptions import RayError

from actors.graph_actor import Duty, Receipt
from actors.rows import Rows
from cluster.collecting import Collecting
from cluster.costs import cost_model
from cluster.crew import Batch, Crew
from cluster.local import Metrics
from cluster.session import session
from cluster.settings import Settings
from connectors.sources import Source
from connectors.spark.dealing import BEGINNING, Deal, seeds
from connectors.spark.handover import Blocks
from connectors.spark.sources import quantiles, spark_events
from planner.clock import Clock
from planner.optimizers import optimizer_of
from planner.plan import Plan
from planner.routes import Ranges, routes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


TOLD = "elsinore"
"""What Spark counts on the way."""


class RayRun:
    """Iterating it runs the plan over a source that has an end; rows come as their windows close."""

    def __init__(
        self,
        plan: Plan,
        workload: str,
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
        self.received = 0
        """The last batch whose rows are here."""
        self.finished = False
        self.routes = routes(plan)
        types = tuple(sorted(plan.types))
        self.policy = optimizer_of(plan.strategy, cost_model())
        self.duty = Duty(
            workload, plan.strategy, self.routes, types, self.clock.save(), numeric, self.policy, record_decisions
        )
        self.record_decisions = record_decisions
        self.decisions = pa.table({})

    def __iter__(self) -> Iterator[Rows]:
        begun, settings = session(self.settings), self.settings
        ranges = Ranges.even(settings.key_groups, settings.actors)
        crew = Crew(self.duty, ranges, begun.pool, begun.pool.optimizer(self.policy), settings.restarts)
        collecting = Collecting(begun.pool, settings.restarts)
        try:
            with spark_events(self.source, self.clock, self.plan.columns) as events:
                while not self.finished:
                    try:
                        yield from self._dealt(crew, collecting, events(begun.spark))
                    except (Py4JError, RayError):
                        if not begun.spark_lost or not crew.left:
                            raise
                        crew.left -= 1
                        crew.withdraw(self.received + 1)
            if self.record_decisions:
                self.decisions = _recorded(crew.ask("decisions"))
        finally:
            crew.dismiss()
            collecting.dismiss()

    def progress(self) -> float | None:
        """The fraction of the stream whose rows are here; before Spark is done with it nobody knows."""
        return None if self.cuts is None else self.received / (len(self.cuts) + 2)

    def _dealt(self, crew: Crew, collecting: Collecting, events: DataFrame) -> Iterator[Rows]:
        """The rows of all slices whose rows are not there yet."""
        if self.cuts is None:
            self.cuts = self._cuts(events)
        deal = Deal(self.routes, crew.ranges, self.duty.types, self.cuts)
        dealt = deal.dealt(events.observe(TOLD, *deal.counts()), seeds(events.sparkSession, deal.partitions))
        with closing(Blocks(dealt)) as blocks:
            self._count(dealt)
            for batch in _batches(deal, blocks, self.received):
                crew.send(batch)
                if len(crew.waiting) > self.settings.ahead:
                    yield from self._received(crew, collecting)
            while crew.waiting:
                yield from self._received(crew, collecting)
        self.finished = True

    def _cuts(self, events: DataFrame) -> tuple[int, ...]:
        """Where a long stream is cut: at ends of panes, so that bursts stay whole."""
        total = self.source.total
        if total is None or total <= self.settings.slice_events:
            return ()
        count = -(-total // self.settings.slice_events)
        found = quantiles(self.source, self.clock, events, count)
        pane = int(np.gcd.reduce([self.clock.ticks(span) for span in self.plan.spans]))
        return tuple(sorted({cut // pane * pane for cut in found}))

    def _count(self, dealt: DataFrame) -> None:
        observed = dealt._jdf.queryExecution().observedMetrics().apply(TOLD)
        metrics = self.metrics
        metrics.events, metrics.dead = int(observed.getAs("events")), int(observed.getAs("dead")) + self.source.dead
        metrics.dropped = int(observed.getAs("dropped"))

    def _received(self, crew: Crew, collecting: Collecting) -> Iterator[Rows]:
        batch, receipts, parts = crew.receive()
        found = collecting.collect(parts)
        crew.commit(batch)
        self.received = batch
        self._note(receipts)
        for rows in found:
            self.metrics.rows += len(rows)
            yield rows

    def _note(self, receipts: Sequence[Receipt]) -> None:
        self.late += [batch for receipt in receipts for batch in receipt.late]
        self.metrics.late = sum(receipt.counts.late for receipt in receipts)
        self.metrics.note(receipt.counts for receipt in receipts)


def _batches(deal: Deal, blocks: Blocks, received: int) -> Iterator[Batch]:
    """A batch for each slice, and one that says that there are no more; of these, those that are not there yet."""

    def of(slice_: int) -> Callable[[int], list[Any]]:
        return lambda place: [
            blocks.reference(deal.partition(slice_, route, range_))
            for range_ in deal.ranges.of(place)
            for route in range(len(deal.routes))
        ]

    for slice_, watermark in enumerate((*deal.cuts, BEGINNING)):
        if slice_ >= received:
            yield Batch(slice_ + 1, watermark, of(slice_))
    yield Batch(deal.slices + 1, BEGINNING, lambda _: (), last=True)


def _recorded(found: Sequence[Sequence[pa.Table]]) -> pa.Table:
    """What all actors decided, in order of time."""
    tables = [table for tables in found for table in tables]
    return pa.concat_tables(tables, promote_options="permissive").sort_by([("time", "ascending")])
