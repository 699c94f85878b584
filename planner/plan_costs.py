"""What the parts of a plan cost in this engine, in nanoseconds, for the events of a window.

Where the cost model of GLORIA counts what happens to single events, here a burst of a type is what happens once, but in
loops; an expression is as long as its chain has snapshots, not longer than it has room for; and a query's own counters
are evaluated where a pane ends. The bursts that HAMLET decides about cost what they do in `planner/calibrated.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from planner.calibrated import Costs
from planner.gloria.statistics import Statistics
from planner.gloria.template import TypeNode

ROOM = 16.0
"""Snapshots of a chain (`actors/plan_graph.py`)."""


@dataclass(frozen=True)
class PlanCosts:
    """Nanoseconds for one of each."""

    look: float = 3.0
    """A query apart, or a set, looks at an event."""
    step: float = 20.0
    """A query's machine takes in an event, per row of its counters."""
    event: float = 40.0
    """A set of queries takes in an event: puts it where its partition and pane are."""
    burst: float = 150.0
    """A planned set takes in a burst."""
    own: float = 20.0
    """There, a query that shares nothing takes in a burst."""
    lengthen: float = 40.0
    """A Q-set takes in a burst, per snapshot of its expressions."""
    member: float = 10.0
    """In a HAMLET set, a query takes in an event that no graphlet shares."""
    close: float = 12_000.0
    """A query's window ends."""

    @classmethod
    def from_dict(cls, costs: Mapping[str, float]) -> PlanCosts:
        """What is left out is as by default."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in costs if name not in known]
        if unknown:
            raise ValueError(f"there is no cost {unknown[0]!r}; choose among {', '.join(known)}")
        return cls(**{name: float(value) for name, value in costs.items()})

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class EngineCost:
    """GLORIA's cost model calibrated on this engine (Section 7.3)."""

    statistics: Statistics = field(default_factory=Statistics)
    plans: PlanCosts = PlanCosts()
    bursts: Costs = Costs()
    rows: float = 1.0
    """Of counters, per query; a mean."""
    starts: frozenset[TypeNode] = frozenset()
    """Nodes that trends begin with and never come to: what is before them is the empty trend, which never changes."""

    def start(self, node: TypeNode) -> float:
        return self._bursts(node) * self.plans.own * self.rows

    def nonshared(self, before: TypeNode, node: TypeNode) -> float:
        """Events that follow their own type are taken in one by one."""
        if before == node:
            return self.statistics.of(node) * self.plans.step * self.rows
        return self._bursts(node) * self.plans.own * self.rows

    def shared(self, before: TypeNode, node: TypeNode, snapshot: TypeNode) -> float:
        """In a loop bursts are begun anew where their expressions are long."""
        if before == node:
            return self.statistics.of(node) * self.bursts.propagate + self._bursts(node) * self.bursts.graphlet
        return self._bursts(node) * self.plans.lengthen * self._length(snapshot)

    def evaluated(self, node: TypeNode, snapshot: TypeNode) -> float:
        return self._bursts(node) * self._length(snapshot) * self._value

    def ended(self, node: TypeNode, snapshot: TypeNode) -> float:
        """Once for each snapshot, when it is settled."""
        made = 1.0 if snapshot in self.starts else max(1.0, self._bursts(snapshot))
        return made * self._value

    def created(self, node: TypeNode) -> float:
        return 0.0 if node in self.starts else self._bursts(node) * self._value

    def around(self, before: TypeNode, node: TypeNode) -> tuple[float, float]:
        """Nothing is evaluated in a loop."""
        return self.shared(before, node, node), 0.0

    @property
    def _value(self) -> float:
        """Of a snapshot for a query: what it is, or what it comes to; a graphlet needs both."""
        return self.bursts.share / 2 * self.rows

    def _bursts(self, node: TypeNode) -> float:
        return self.statistics.bursts(node.type)

    def _length(self, snapshot: TypeNode) -> float:
        """A chain has from one snapshot to as many as there is room for."""
        return 1.0 if snapshot in self.starts else (1.0 + min(ROOM, max(1.0, self._bursts(snapshot)))) / 2
