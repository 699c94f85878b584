"""One query at work over the partitions of a stream: from batches to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from actors.cells import Cells, join
from actors.conjunction import conjoin
from actors.counting import Batch, Counting
from actors.partitions import Partitions
from actors.results import Column, Decoder
from actors.rows import Rows
from planner.clock import Clock
from planner.plan import QueryPlan


class QueryGraph:
    """The counters of a query; more than one only where its pattern has an AND."""

    def __init__(self, plan: QueryPlan, clock: Clock, partitions: Partitions, exact: bool) -> None:
        self.plan = plan
        self.partitions = partitions
        self.countings = [Counting(plan, counter, clock, exact) for counter in plan.counters]
        self.conjunction = len(self.countings) > 1

    def admit(self) -> None:
        """New partitions have been seen. Members of an AND are paired up by partition, before groups are merged."""
        groups = self._groups()
        for counting in self.countings:
            counting.graph.admit(groups, int(groups.max(initial=-1)) + 1)

    def _groups(self) -> npt.NDArray[np.int32]:
        return np.arange(self.partitions.count, dtype=np.int32) if self.conjunction else self.partitions.group_of

    def process(self, batch: Batch) -> list[Rows]:
        return self._rows(lambda counting: counting.process(batch))

    def settle(self, time: int) -> list[Rows]:
        """Rows of the windows that end no later than `time`."""
        return self._rows(lambda counting: counting.graph.settle(time))

    def finish(self) -> list[Rows]:
        return self._rows(lambda counting: counting.graph.finish())

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        for counting in self.countings:
            counting.graph.keep(slots, self._groups())

    def _rows(self, cells: Callable[[Counting], Iterator[Cells]]) -> list[Rows]:
        found = [list(cells(counting)) for counting in self.countings]
        if not any(found):
            return []
        if self.conjunction:
            joined = [join(cells) if cells else None for cells in found]
            return [conjoin(self.plan, self.countings, joined, self.partitions)]
        decoder = Decoder(self.countings[0].columns, join(found[0]))
        values = {item.label: decoder.value(item) for item in self.plan.query.aggregates}
        return [self._named(decoder.cells, values)]

    def _named(self, cells: Cells, values: dict[str, Column]) -> Rows:
        groups = self.partitions.group_columns(cells.group)
        return Rows(self.plan.query.name, cells.start, cells.end, groups, values)

    def save(self) -> list[dict[str, Any]]:
        return [counting.save() for counting in self.countings]

    def load(self, states: list[dict[str, Any]]) -> None:
        for counting, state in zip(self.countings, states, strict=True):
            counting.load(state)
