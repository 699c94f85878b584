"""What the parts of a plan cost in this engine, in nanoseconds; measured by `python -m benchmarks.calibrate_plans`."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.costs.measured import Measured


@dataclass(frozen=True)
class PlanCosts(Measured):
    """Nanoseconds for one of each. What is said to be by number is for a number of a query's counters: by row of them,
    and there by lane."""

    look: float = 6.2
    """A query apart, or a set of them, looks at an event."""
    step: float = 11.0
    """A query apart takes in an event, by number."""
    event: float = 29.0
    """A set takes in an event: it finds where it belongs."""
    member: float = 2.6
    """In a HAMLET set, a query takes in an event that no graphlet shares, by number."""
    scan: float = 5.7
    """A node of a sharing plan looks at an event of its type."""
    burst: float = 39.0
    """A planned set takes in a burst."""
    own: float = 51.0
    """There, a query that shares nothing takes in a burst, by number."""
    arrive: float = 29.0
    """A burst arrives at what a Q-set shares."""
    loop: float = 2.8
    """A burst of events that may follow their own type is taken in, for all queries of a Q-set, by snapshot; of several
    events at one time, each of them."""
    lengthen: float = 25.0
    """A burst of other events is, for all queries of a Q-set, by snapshot."""
    value: float = 9.0
    """A query's value of a snapshot is found, or what is counted by it, by number."""
    close: float = 15_600.0
    """A window of a query apart ends."""
    close_shared: float = 1_200.0
    """A query's window ends, of those that have a share set in common."""
