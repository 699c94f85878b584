"""GLORIA's cost model, calibrated on this engine (Section 7.3), in nanoseconds.

Where the paper's counts what happens to single events, here a burst of a type is taken in at once; an expression is as
long as its chain has snapshots, not longer than there is room for; and what queries end with is evaluated where a pane
ends, once for each snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.calibrated import Costs

ROOM = 16.0
"""Snapshots of a chain (`actors/gloria/graph.py`)."""


@dataclass(frozen=True)
class EngineCost:
    statistics: Statistics = field(default_factory=Statistics)
    costs: PlanCosts = PlanCosts()
    bursts: Costs = Costs()
    """Of HAMLET's graphlets, beside which sharing plans are held."""
    numbers: float = 1.0
    """Of a query's counters; a mean."""
    panes: float = 1.0
    """Of a window."""
    starts: frozenset[TypeNode] = frozenset()
    """Nodes that trends never come to from others: what is before them is the empty trend, which never changes."""

    def start(self, node: TypeNode) -> float:
        return self._bursts(node) * self.costs.own * self.numbers

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """Events that may follow their own type are taken in one by one."""
        if before == node:
            return self.statistics.of(node) * self.costs.step * self.numbers
        return self.start(node)

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """A loop's bursts are begun anew where expressions are long."""
        if before == node:
            return self._bursts(node) * (self.costs.arrive + self.costs.loop)
        return self._bursts(node) * (self.costs.arrive + self.costs.lengthen * self._length(snapshot))

    def evaluated(self, node: TypeNode, snapshot: TypeNode, readers: Sequence[TypeNode]) -> float:
        if not readers:
            return max(self.panes, self._made(snapshot)) * self._value
        return self._turns(node, readers) * self._length(snapshot) * self._value

    def created(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        return 0.0 if node in self.starts else self._turns(node, readers) * self._value

    def around(self, before: TypeNode, node: TypeNode) -> tuple[float, float]:
        """Nothing is evaluated in a loop."""
        return self.shared(before, node, node), 0.0

    @property
    def _value(self) -> float:
        return self.costs.value * self.numbers

    def _bursts(self, node: TypeNode) -> float:
        return self.statistics.bursts(node.type)

    def _length(self, snapshot: TypeNode) -> float:
        """A chain has from one snapshot to as many as there is room for."""
        return (1.0 + min(ROOM, max(1.0, self._made(snapshot) / self.panes))) / 2

    def _made(self, snapshot: TypeNode) -> float:
        """How many snapshots, whoever reads them."""
        return 0.0 if snapshot in self.starts else self._bursts(snapshot) / 2

    def _turns(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        return turns(self._bursts(node), sum(map(self._bursts, readers)))


def turns(changes: float, reads: float) -> float:
    """How many of some bursts come behind new ones of others, if all come in no order."""
    return changes * reads / (changes + reads) if changes else 0.0
