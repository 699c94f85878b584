"""Costs of bursts in this engine, in nanoseconds.

Definition 4.2 counts looks at predecessors: n of them for each event. Here an event reads running sums, and costs the
same however many events came before it. Bursts compare as in Definition 4.2, but the line between sharing and not runs
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.costs.measured import Measured
from elsinore.planner.hamlet.bursts import Facts
from elsinore.planner.hamlet.terms import Terms


@dataclass(frozen=True)
class Costs(Measured):
    """Nanoseconds for one of each operation."""

    query: float = 24.0
    """Apart: a query's own graphlet, per row of its counters."""
    query_lane: float = 9.9
    """The same for each number behind the count."""
    step: float = 4.6
    """Apart: a query takes in an event, per row of its counters."""
    step_lane: float = 11.0
    graphlet: float = 160.0
    """A shared graphlet, whatever its events and queries."""
    propagate: float = 3.1
    """In a graphlet: a snapshot takes in an event, for all queries at once."""
    propagate_lane: float = 2.4
    share: float = 31.0
    """A query's value of the snapshot at graphlet level, and its evaluation, per row of its counters."""
    share_lane: float = 9.1


@dataclass(frozen=True)
class CalibratedModel:
    costs: Costs = Costs()

    def terms(self, facts: Facts) -> Terms:
        """Return the costs; events read running sums, so those that came before cost nothing."""
        costs, more = self.costs, facts.lanes - 1.0
        return Terms(
            graphlet=costs.graphlet,
            event=costs.propagate + costs.propagate_lane * more,
            predecessor=0.0,
            query=(costs.share + costs.share_lane * more) * facts.rows,
            query_event=0.0,
            apart=(costs.query + costs.query_lane * more) * facts.rows,
            apart_event=(costs.step + costs.step_lane * more) * facts.rows,
            apart_predecessor=0.0,
        )
