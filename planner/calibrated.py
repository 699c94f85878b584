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

    query: float = 36.0
    """Apart: a query's own graphlet, per row of its counters."""
    query_lane: float = 15.0
    """The same for each number behind the count."""
    step: float = 7.3
    """Apart: a query and row take in an event."""
    step_lane: float = 16.0
    graphlet: float = 86.0
    """A shared graphlet, whatever its events and queries."""
    propagate: float = 12.0
    """In a graphlet: a snapshot takes in an event, for all queries at once."""
    propagate_lane: float = 10.0
    share: float = 56.0
    """A query's value of the snapshot at graphlet level, and its evaluation, per row."""
    share_lane: float = 18.0

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
        1 + 2 + ... + (s + 1) evaluations with s of them. One of them, and its value, is what sharing costs at least.
        """
        costs, more = self.costs, facts.lanes - 1.0
        propagate = costs.propagate + costs.propagate_lane * more
        share = (costs.share + costs.share_lane * more) * facts.rows
        evaluations = (snapshots + 1.0) * (snapshots + 2.0) * 0.25 + 0.5
        return events * ((snapshots * 0.5 + 1.0) * propagate) + queries * (evaluations * share) + costs.graphlet

    def apart(self, facts: Facts, events: Floats, window: Floats, queries: Floats) -> Floats:
        costs, more = self.costs, facts.lanes - 1.0
        step = (costs.step + costs.step_lane * more) * facts.rows
        return queries * (events * step + (costs.query + costs.query_lane * more) * facts.rows)
