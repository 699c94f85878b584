"""What it costs to run a sharing plan (GLORIA, Section 3.2); exchangeable (Section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.templates.template import TypeNode


class CostModel(Protocol):
    """Costs for all events of a type in a window, in a unit of its own; none is negative."""

    @property
    def statistics(self) -> Statistics: ...

    def start(self, node: TypeNode) -> float:
        """For events that begin trends, per query."""
        ...

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """To propagate aggregates from one type to the next, per query."""
        ...

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """To propagate expressions of snapshots from one type to the next, per Q-set."""
        ...

    def evaluated(self, node: TypeNode, snapshot: TypeNode, readers: Sequence[TypeNode]) -> float:
        """To evaluate the expressions that events have, per query, for events of the readers; without any the query
        ends."""
        ...

    def created(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        """To make snapshots of a node, per query, for events of the readers."""
        ...

    def around(self, before: TypeNode, node: TypeNode) -> tuple[float, float]:
        """To bring what comes around a loop to the node of its snapshots: per Q-set, and per query."""
        ...


@dataclass(frozen=True)
class PaperCost:
    """Equations 2 to 4."""

    statistics: Statistics = field(default_factory=Statistics)

    def start(self, node: TypeNode) -> float:
        """One increment an event (Table 3: n1 is 10 = |F| away from the start of q1)."""
        return self.statistics.of(node)

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """Equation 2: |E| · |E_p|."""
        return self.statistics.of(node) * self.statistics.of(before)

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """Equation 3: |E_p| · len, where an event that has a snapshot of its own is an expression of length 1."""
        length = 1 if before == snapshot else self.statistics.of(snapshot)
        return self.statistics.of(before) * length

    def evaluated(self, node: TypeNode, snapshot: TypeNode, readers: Sequence[TypeNode] = ()) -> float:
        """Equation 4: |E| · len."""
        return self.statistics.of(node) * self.statistics.of(snapshot)

    def created(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        """Nothing: an event's snapshot is its intermediate aggregate, which is there."""
        return 0.0

    def around(self, before: TypeNode, node: TypeNode) -> tuple[float, float]:
        """It is evaluated before it is a new snapshot (Equation 4, Table 4)."""
        return 0.0, self.evaluated(before, node)
