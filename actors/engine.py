"""The engine of one process: batches in, rows out; its state can be saved between any two batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from actors.counting import Batch, Counting
from actors.decisions import decisions_table
from actors.hamlet_graph import HamletGraph
from actors.linked_sharing import LinkedSharing
from actors.moving_sharing import MovingSharing
from actors.partitions import Partitions
from actors.parts import PartialRows
from actors.plan_sharing import PlanSharing
from actors.prefix_sharing import PrefixSharing
from actors.query_graph import QueryGraph
from actors.reorder import Reorder
from actors.rows import Rows
from actors.sharing import Shared, SharedCounting, Sharing
from actors.state import pack, unpack
from planner.clock import Clock
from planner.forest_sets import ForestSet
from planner.optimizer import SharingOptimizer
from planner.optimizers import optimizer_of
from planner.plan import Plan, QueryPlan
from planner.planned_sets import PlannedSet
from planner.prefix_sets import PrefixSet
from planner.sharing import LinkedSet, MovingSet

SLICE = 1 << 19
"""Events whose derived columns are in memory at once."""

FORMAT = 1

AnySharing = Shared | LinkedSharing | MovingSharing | PrefixSharing


class Engine:
    """Evaluates a plan over a stream.

    A batch is a RecordBatch: the type (dictionary of texts), the time in ticks of the clock, and
    then attributes by name. Its events may be in any order. Batches may overlap in time by the
    allowed `lateness` (in ticks); events older than that are handed back in `late`.
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
    ) -> None:
        self.plan = plan
        self.clock = clock
        self.numeric = numeric
        self.reorder = Reorder(lateness)
        self.dropped = 0
        """Events with a null in an attribute that splits the stream."""
        self.late: list[pa.RecordBatch] = []
        self._partitions: dict[tuple[tuple[str, ...], int], Partitions] = {}
        exact = numeric == "exact"
        optimizer = optimizer or optimizer_of(plan.strategy)
        self.sharings = [
            Sharing(plan, share_set, clock, exact, optimizer, record_decisions, hamlet_graph)
            for share_set in plan.share_sets
            if not isinstance(share_set, LinkedSet | MovingSet | PlannedSet | PrefixSet | ForestSet)
        ]
        self.linked = [
            LinkedSharing(plan, share_set, clock, exact)
            for share_set in plan.share_sets
            if isinstance(share_set, LinkedSet)
        ]
        self.moving = [
            MovingSharing(plan, share_set, clock, exact)
            for share_set in plan.share_sets
            if isinstance(share_set, MovingSet | ForestSet)
        ]
        self.planned = [
            PlanSharing(plan, share_set, clock, exact)
            for share_set in plan.share_sets
            if isinstance(share_set, PlannedSet)
        ]
        self.prefixes = [
            PrefixSharing(plan, share_set, clock, exact)
            for share_set in plan.share_sets
            if isinstance(share_set, PrefixSet)
        ]
        self._share_sets: tuple[AnySharing, ...] = (
            *self.sharings,
            *self.linked,
            *self.moving,
            *self.planned,
            *self.prefixes,
        )
        shared: dict[tuple[int, int], SharedCounting] = {}
        for sharing in self._share_sets:
            shared |= sharing.members
        self._graphs = [
            QueryGraph(
                query,
                self._partitions_of(query),
                [
                    shared.get((q, c)) or Counting(query, counter, clock, exact)
                    for c, counter in enumerate(query.counters)
                ],
            )
            for q, query in enumerate(plan.queries)
        ]
        self._takes_all = any(query.query.semantics == "contiguous" for query in plan.queries)

    def _partitions_of(self, query: QueryPlan) -> Partitions:
        """Queries that split the stream alike share the numbering."""
        attributes, groups = query.partition, len(query.query.groups)
        return self._partitions.setdefault((attributes, groups), Partitions(attributes, groups))

    def feed(self, batch: pa.RecordBatch) -> list[Rows]:
        """Take in a batch; the rows of all windows that the watermark has passed."""
        return [rows.finished() for rows in self.take(batch)]

    def finish(self) -> list[Rows]:
        """The stream is over: the rows of all windows that are still open."""
        return [rows.finished() for rows in self.drain()]

    def take(self, batch: pa.RecordBatch, watermark: int | None = None) -> list[PartialRows]:
        """As `feed`, of a part of the stream; `watermark` is that of all of it."""
        ready, late = self.reorder.feed(batch, watermark)
        if late is not None:
            self.late.append(late)
        if ready is None:
            return []
        rows = self._process(ready)
        for graph in self._graphs:
            rows += graph.settle(self.reorder.watermark)
        self._forget()
        return rows

    def drain(self) -> list[PartialRows]:
        """As `finish`, of a part of the stream."""
        waiting = self.reorder.finish()
        rows = self._process(waiting) if waiting is not None else []
        for graph in self._graphs:
            rows += graph.finish()
        return rows

    def _process(self, batch: pa.RecordBatch) -> list[PartialRows]:
        rows: list[PartialRows] = []
        for part in _slices(self._named(batch)):
            types, times, *attributes = part.columns
            columns = dict(zip(part.schema.names[2:], attributes, strict=True))
            for key, partitions in self._partitions.items():
                batches = self._batch(partitions, types, times, columns)
                graphs = [graph for graph in self._graphs if graph.partitions is self._partitions[key]]
                for graph in graphs:
                    graph.admit()
                for sharing in self._share_sets:
                    if self._splits(sharing) is partitions:
                        sharing.process(batches)
                for graph in graphs:
                    rows += graph.process(batches)
                    rows += graph.settle(int(batches.times[-1]))
        return rows

    def _splits(self, sharing: AnySharing) -> Partitions:
        return self._graphs[sharing.share_set.members[0].query].partitions

    def _named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Only events of types that some query names, where none has to see the others."""
        if self._takes_all:
            return batch
        types = batch.column(0)
        wanted = np.array([name in self.plan.types for name in types.dictionary.to_pylist()], np.bool_)
        if wanted.all():
            return batch
        return batch.filter(pa.array(wanted[types.indices.to_numpy()]))

    def _batch(
        self, partitions: Partitions, types: pa.DictionaryArray, times: pa.Array, columns: dict[str, pa.Array]
    ) -> Batch:
        ticks = np.require(times.to_numpy(), requirements=["W"])
        slots = partitions.slots(columns, ticks)
        self.dropped += int(np.count_nonzero(slots < 0))
        return Batch(types, ticks, columns, slots)

    def _forget(self) -> None:
        """Partitions whose last event has left every window."""
        longest = max((self.clock.ticks(query.query.within.seconds) for query in self.plan.queries), default=0)
        for partitions in self._partitions.values():
            kept = partitions.forget(self.reorder.watermark - longest)
            if kept is not None:
                for sharing in self.sharings:
                    if self._splits(sharing) is partitions:
                        sharing.graph.flush()
                for graph in self._graphs:
                    if graph.partitions is partitions:
                        graph.keep(kept)
                for one in self._share_sets:
                    if self._splits(one) is partitions:
                        one.keep(kept)

    @property
    def totals(self) -> tuple[int, int, int]:
        """Bursts decided about, those shared, and snapshots."""
        totals = [sharing.graph.decisions.totals for sharing in self.sharings]
        totals += [planned.graph.totals for planned in self.planned]
        bursts, shared, snapshots = (sum(int(one[n]) for one in totals) for n in range(3))
        return bursts, shared, snapshots

    @property
    def decision_seconds(self) -> float:
        """That all decisions took."""
        return sum(sharing.graph.decisions.seconds for sharing in self.sharings)

    def decisions(self) -> pa.Table:
        """What was decided about every burst, where that was to be recorded."""
        names = [sharing.names for sharing in self.sharings]
        return decisions_table([sharing.graph.decisions for sharing in self.sharings], names, self.clock)

    def save(self) -> bytes:
        """Everything that the rows to come depend on."""
        return pack(
            {
                "format": FORMAT,
                "numeric": self.numeric,
                "clock": self.clock.save(),
                "lateness": self.reorder.lateness,
                "reorder": self.reorder.save(),
                "dropped": self.dropped,
                "partitions": [partitions.save() for partitions in self._partitions.values()],
                "sharings": [sharing.save() for sharing in self._share_sets],
                "graphs": [graph.save() for graph in self._graphs],
            }
        )

    @classmethod
    def restore(
        cls, plan: Plan, data: bytes, optimizer: SharingOptimizer | None = None, record_decisions: bool = False
    ) -> Engine:
        """An engine of the same plan, as it was when `save` was called."""
        state: dict[str, Any] = unpack(data)
        if state.get("format") != FORMAT:
            raise ValueError(f"this state has format {state.get('format')}; this version reads format {FORMAT}")
        clock = Clock.load(state["clock"])
        engine = cls(plan, clock, state["numeric"], state["lateness"], optimizer, record_decisions)
        engine.reorder.load(state["reorder"])
        engine.dropped = state["dropped"]
        for partitions, saved in zip(engine._partitions.values(), state["partitions"], strict=True):
            partitions.load(saved)
        for sharing, saved in zip(engine._share_sets, state["sharings"], strict=True):
            sharing.load(saved)
        for graph, saved in zip(engine._graphs, state["graphs"], strict=True):
            graph.admit()
            graph.load(saved)
        return engine


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut where the time changes."""
    times = batch.column(1).to_numpy()
    start = 0
    while start < len(times):
        end = min(start + SLICE, len(times))
        if end < len(times):
            end = int(np.searchsorted(times, times[end - 1], side="right"))
        yield batch.slice(start, end - start)
        start = end
