"""What the parts of a plan cost in this engine, in nanoseconds; measured by `python -m benchmarks.calibrate_plans`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True)
class PlanCosts:
    """Nanoseconds for one of each. What is said to be by number is for a number of a query's counters: by row of them,
    and there by lane."""

    look: float = 4.5
    """A query apart, or a set of them, looks at an event."""
    step: float = 19.0
    """A query apart takes in an event, by number."""
    event: float = 38.0
    """A set takes in an event: it finds where it belongs."""
    member: float = 10.0
    """In a HAMLET set, a query takes in an event that no graphlet shares, by number."""
    burst: float = 280.0
    """A planned set takes in a burst."""
    own: float = 36.0
    """There, a query that shares nothing takes in a burst, by number."""
    arrive: float = 74.0
    """A burst arrives at what a Q-set shares."""
    loop: float = 14.0
    """An event that may follow its own type is taken in, for all queries of a Q-set, by snapshot."""
    lengthen: float = 0.5
    """A burst of other events is, for all queries of a Q-set, by snapshot."""
    value: float = 9.0
    """A query's value of a snapshot is found, or what is counted by it, by number."""
    close: float = 11000.0
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
