"""What bursts cost in this engine, in nanoseconds.

Definition 4.2 counts looks at predecessors: n of them for each event. Here an event reads running sums, and costs the
same however many events came before it; what Definition 4.2 says of bursts that differ is the same, but not where the
line runs between sharing and not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from planner.bursts import Facts, Floats


@dataclass(frozen=True)
class Costs:
    """Nanoseconds for one of each."""

    query: float = 37.0
    """Apart: a query's own graphlet, opened per row."""
    step: float = 7.0
    """Apart: a number of a query's counters takes in an event."""
    graphlet: float = 100.0
    """A shared graphlet, whatever its events and queries."""
    propagate: float = 8.5
    """In a graphlet: a coefficient of a snapshot takes in an event, for all queries at once."""
    snapshot: float = 35.0
    """A query's value of a snapshot at graphlet level, per row."""
    evaluate: float = 14.0
    """A coefficient is multiplied with a query's value of its snapshot."""

    @classmethod
    def from_dict(cls, costs: Mapping[str, float]) -> Costs:
        """What is left out is as by default."""
        known = [field.name for field in fields(cls)]
        unknown = [name for name in costs if name not in known]
        if unknown:
            raise ValueError(f"there is no cost {unknown[0]!r}; choose among {', '.join(known)}")
        return cls(**{name: float(value) for name, value in costs.items()})

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class CalibratedModel:
    costs: Costs = Costs()

    def graphlet(
        self, facts: Facts, events: Floats, window: Floats, queries: Floats, snapshots: Floats | float
    ) -> Floats:
        """A snapshot at event level is propagated through the events behind it, half of the graphlet on average.

        Its value is an expression in all snapshots before it, evaluated per query, and so is the end of the graphlet:
        1 + 2 + ... + (s + 1) evaluations with s of them.
        """
        costs = self.costs
        propagated = (snapshots * 0.5 + 1.0) * (costs.propagate * facts.lanes)
        evaluated = (snapshots + 1.0) * (snapshots + 2.0) * (0.5 * costs.evaluate * facts.lanes * facts.rows)
        return events * propagated + queries * (evaluated + costs.snapshot * facts.rows) + costs.graphlet

    def apart(self, facts: Facts, events: Floats, window: Floats, queries: Floats) -> Floats:
        return queries * (facts.rows * (events * (self.costs.step * facts.lanes) + self.costs.query))
