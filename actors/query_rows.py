"""The rows of a query, from the results of its counters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from elsinore.actors.conjunction import conjoin
from elsinore.actors.members import SetMember
from elsinore.actors.rows.cells import Cells, join
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.rows.results import Decoder
from elsinore.actors.set_graph import Result
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.plans.model import QueryPlan


class QueryRows(ABC, Generic[Result]):
    """What makes rows of a query from the results of its members, which are by counter."""

    def __init__(self, plan: QueryPlan, members: Sequence[SetMember], partitions: Partitions) -> None:
        self.plan = plan
        self.members = members
        self.partitions = partitions

    @abstractmethod
    def of(self, found: Sequence[list[Result]]) -> list[PartialRows]:
        """Return the rows of results, by counter. All counters have ended the same windows."""


class AggregateRows(QueryRows[Cells]):
    """The aggregates of a query over its trends, as numbers in cells."""

    def of(self, found: Sequence[list[Cells]]) -> list[PartialRows]:
        if not any(found):
            return []
        joined = [join(cells) if cells else None for cells in found]
        if len(self.members) > 1:
            return [PartialRows.whole(rows) for rows in conjoin(self.plan, self.members, joined, self.partitions)]
        (cells,) = joined
        return [self._decoded(cells)] if cells is not None else []

    def _decoded(self, cells: Cells) -> PartialRows:
        decoder = Decoder(self.members[0].columns, cells)
        values = {item.label: decoder.part(item) for item in self.plan.query.aggregates}
        groups = self.partitions.group_columns(cells.group)
        return PartialRows(self.plan.query.name, cells.start, cells.end, groups, values)
