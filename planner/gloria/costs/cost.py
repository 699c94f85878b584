"""The cost of running a sharing plan (GLORIA, Section 3.2), by exchangeable models (Section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.templates.template import TypeNode


class CostModel(Protocol):
    """Costs for all events of a type in a window, in a unit of the model's own; none is negative."""

    @property
    def statistics(self) -> Statistics: ...

    def start(self, node: TypeNode) -> float:
        """Return the cost per query of events that begin trends."""
        ...

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """Return the cost per query of propagating aggregates from one type to the next."""
        ...

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """Return the cost per Q-set of propagating expressions of snapshots from one type to the next."""
        ...

    def evaluated(self, node: TypeNode, snapshot: TypeNode, readers: Sequence[TypeNode]) -> float:
        """Return the cost per query of evaluating the expressions of a type's events, for events of the readers.

        Without readers the query ends there.
        """
        ...

    def created(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        """Return the cost per query of creating the snapshots of a node, for events of the readers."""
        ...

    def around(self, before: TypeNode, node: TypeNode) -> tuple[float, float]:
        """Return the costs, per Q-set and per query, of a transition around a loop into the node of its snapshots."""
        ...


@dataclass(frozen=True)
class PaperCost:
    """The costs of the paper, Equations 2 to 4."""

    statistics: Statistics = field(default_factory=Statistics)

    def start(self, node: TypeNode) -> float:
        """Return |E|, one increment per event (Table 3: n1 is 10 = |F| away from the start of q1)."""
        return self.statistics.of(node)

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """Return |E| · |E_p| (Equation 2)."""
        return self.statistics.of(node) * self.statistics.of(before)

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """Return |E_p| · len (Equation 3); an event that has a snapshot of its own is an expression of length 1."""
        length = 1 if before == snapshot else self.statistics.of(snapshot)
        return self.statistics.of(before) * length

    def evaluated(self, node: TypeNode, snapshot: TypeNode, readers: Sequence[TypeNode] = ()) -> float:
        """Return |E| · len (Equation 4)."""
        return self.statistics.of(node) * self.statistics.of(snapshot)

    def created(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        """Return 0: the snapshot of an event is its intermediate aggregate, which is known."""
        return 0.0

    def around(self, before: TypeNode, node: TypeNode) -> tuple[float, float]:
        """Return the cost of the evaluation that precedes a new snapshot (Equation 4, Table 4)."""
        return 0.0, self.evaluated(before, node)
