"""GLORIA's cost model, calibrated on this engine (Section 7.3), in nanoseconds.

The paper counts single events; this engine takes in a burst of a type at once. An expression is as long as its chain
has snapshots, up to `MOST_SNAPSHOTS`. The expressions that queries end with are evaluated at the end of a pane, once
for each snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.calibrated import Costs

MOST_SNAPSHOTS = 16.0
"""Most snapshots that a chain holds (`SNAPSHOTS` in `actors/gloria/graph.py`)."""


@dataclass(frozen=True)
class EngineCost:
    statistics: Statistics = field(default_factory=Statistics)
    costs: PlanCosts = PlanCosts()
    bursts: Costs = Costs()
    """Costs of HAMLET's graphlets, with which sharing plans are compared."""
    numbers: float = 1.0
    """Mean of the numbers that a query's counters have."""
    panes: float = 1.0
    """Panes of a window."""
    starts: frozenset[TypeNode] = frozenset()
    """Nodes that trends begin with and no sequence transition leads to: the empty trend before them never changes."""

    def start(self, node: TypeNode) -> float:
        return self._bursts(node) * self.costs.own * self.numbers

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """Return the cost per query; events that may follow their own type are taken in one by one."""
        if before == node:
            return self.statistics.of(node) * self.costs.step * self.numbers
        return self.start(node)

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """Return the cost per Q-set; in a loop the length does not count: long expressions are begun anew."""
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
        """Return the cost of propagation alone: nothing is evaluated in a loop."""
        return self.shared(before, node, node), 0.0

    @property
    def _value(self) -> float:
        return self.costs.value * self.numbers

    def _bursts(self, node: TypeNode) -> float:
        return self.statistics.bursts(node.type)

    def _length(self, snapshot: TypeNode) -> float:
        """Return the mean length of a chain, which grows from one snapshot to its limit."""
        return (1.0 + min(MOST_SNAPSHOTS, max(1.0, self._made(snapshot) / self.panes))) / 2

    def _made(self, snapshot: TypeNode) -> float:
        """Return the number of snapshots created, whatever reads them."""
        return 0.0 if snapshot in self.starts else self._bursts(snapshot) / 2

    def _turns(self, node: TypeNode, readers: Sequence[TypeNode]) -> float:
        return turns(self._bursts(node), sum(map(self._bursts, readers)))


def turns(changes: float, reads: float) -> float:
    """Return how many reading bursts come directly behind a changing one, if all bursts come in random order."""
    return changes * reads / (changes + reads) if changes else 0.0
