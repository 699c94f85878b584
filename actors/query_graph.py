"""Execution of one query over the partitions of a stream: from batches to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.conjunction import conjoin
from elsinore.actors.counting import Batch, Counting
from elsinore.actors.neighbours.graph import Moments
from elsinore.actors.rows.cells import Cells, join
from elsinore.actors.rows.partial_rows import Part, PartialRows
from elsinore.actors.rows.results import Decoder
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.plans.model import QueryPlan


class QueryGraph:
    """The counters of a query; there are several only where its pattern has an AND."""

    def __init__(self, plan: QueryPlan, partitions: Partitions, countings: Sequence[Counting]) -> None:
        self.plan = plan
        self.partitions = partitions
        self.countings = countings
        self.conjunction = len(plan.counters) > 1
        self.waiting: list[list[Cells]] = [[] for _ in self.countings]
        """Of an AND, by counter: cells of windows that may not be over yet for all counters."""

    def admit(self) -> None:
        """Make room for new partitions. The members of an AND are paired up by partition, before groups are merged."""
        groups = self._groups()
        for counting in self.countings:
            counting.graph.admit(groups, int(groups.max(initial=-1)) + 1)

    def _groups(self) -> npt.NDArray[np.int32]:
        return np.arange(self.partitions.count, dtype=np.int32) if self.conjunction else self.partitions.group_of

    def process(self, batch: Batch) -> list[PartialRows]:
        taken = {counting: counting.take(batch) for counting in self.countings}
        moments = self._moments([(counting, events) for counting, (events, _) in taken.items()])
        return self._collect(lambda counting: counting.process(*taken[counting], moments))

    def _moments(self, taken: list[tuple[Counting, Events]]) -> Moments | None:
        """Return, by group, the times at which an event in any of its partitions can end a trend."""
        if not self.plan.per_event:
            return None
        ending = [(events, counting.ends[events.kind]) for counting, events in taken]
        group_of = self.partitions.group_of
        times = np.concatenate([events.time[ends] for events, ends in ending])
        groups = np.concatenate([group_of[events.slot[ends]] for events, ends in ending])
        order = np.lexsort((times, groups))
        times, groups = times[order], groups[order]
        new = np.ones(len(times), np.bool_)
        new[1:] = (times[1:] != times[:-1]) | (groups[1:] != groups[:-1])
        at = np.searchsorted(groups[new], np.arange(int(group_of.max(initial=-1)) + 2))
        return Moments(at, times[new], group_of)

    def settle(self, time: int) -> list[PartialRows]:
        """Return the rows of windows that end no later than `time`; no event older than that will come."""
        return self._collect(lambda counting: counting.graph.settle(time)) + self._pair_up()

    def finish(self) -> list[PartialRows]:
        return self._collect(lambda counting: counting.graph.finish()) + self._pair_up()

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        for counting in self.countings:
            counting.graph.keep(slots, self._groups())

    def _collect(self, cells: Callable[[Counting], Iterator[Cells]]) -> list[PartialRows]:
        """Return the cells of all counters as rows; keep those of an AND until `_pair_up`."""
        if self.conjunction:
            for waiting, counting in zip(self.waiting, self.countings, strict=True):
                waiting += cells(counting)
            return []
        rows = []
        for counting in self.countings:
            if found := list(cells(counting)):
                decoder = Decoder(counting.columns, join(found))
                values = {item.label: decoder.part(item) for item in self.plan.query.aggregates}
                rows.append(self._named(decoder.cells, values))
        return rows

    def _pair_up(self) -> list[PartialRows]:
        if not any(self.waiting):
            return []
        joined = [join(cells) if cells else None for cells in self.waiting]
        self.waiting = [[] for _ in self.countings]
        return [PartialRows.whole(rows) for rows in conjoin(self.plan, self.countings, joined, self.partitions)]

    def _named(self, cells: Cells, values: dict[str, Part]) -> PartialRows:
        groups = self.partitions.group_columns(cells.group)
        return PartialRows(self.plan.query.name, cells.start, cells.end, groups, values)

    def save(self) -> list[dict[str, Any]]:
        return [counting.save() for counting in self.countings]

    def load(self, states: list[dict[str, Any]]) -> None:
        for counting, state in zip(self.countings, states, strict=True):
            counting.load(state)
