"""Costs of the parts of a plan in this engine, in nanoseconds; measured by `python -m benchmarks.costs.plans`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from elsinore.planner.costs.measured import Measured

EXACT_TOUCH = 2.5
"""How many times as much a partition costs a share set in a pane with exact numbers."""


@dataclass(frozen=True)
class PlanCosts(Measured):
    """Nanoseconds for one of each operation. A cost *by number* is for each number of a query's counters, that is for
    each lane in each row of them."""

    look: float = 6.2
    """A query apart, or a set of queries, looks at an event."""
    step: float = 11.0
    """A query apart takes in an event, by number."""
    event: float = 29.0
    """A set takes in an event: it finds where the event belongs."""
    member: float = 2.6
    """In a HAMLET set, a query takes in an event that no graphlet shares, by number."""
    scan: float = 5.7
    """A node of a sharing plan looks at an event of its type."""
    burst: float = 39.0
    """A planned set takes in a burst."""
    own: float = 51.0
    """In a planned set, a query that shares nothing takes in a burst, by number."""
    arrive: float = 29.0
    """A burst arrives at a shared state of a Q-set."""
    loop: float = 2.8
    """A burst of events that may follow their own type is taken in, for all queries of a Q-set, by snapshot; of several
    events at one time, each counts."""
    lengthen: float = 25.0
    """A burst of other events is taken in, for all queries of a Q-set, by snapshot."""
    value: float = 9.0
    """A query's value of a snapshot is computed, or an expression is evaluated for a snapshot, by number."""
    touch: float = 5.7
    """A partition has events in a pane of a query in a share set, more than for a query apart: by number of all states
    of the query's counters."""
    close: float = 15_600.0
    """A window of a query apart ends."""
    close_shared: float = 1_200.0
    """A window of a query in a share set ends."""

    def of_exact(self) -> PlanCosts:
        """Return the costs with exact numbers, which in a set have as many words as the widest of its queries needs."""
        return replace(self, touch=EXACT_TOUCH * self.touch)
