"""Statistics of a stream: arrival rates of types, and selectivities of conditions (Section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from elsinore.planner.detection.pattern import Condition, Event, Pattern, Window, filled

SELECTIVITY = 0.5
"""What is taken for a condition of unknown selectivity: half of what it is asked about."""
EVENTS_PER_SECOND = 1.0
"""What is taken for a type of unknown rate."""

DRIFT = 2.0
"""Factor by which a rate or a selectivity has to change before another plan is looked for."""

FEW_EVENTS = 8
"""Events that are added to both counts where rates are compared: differences of rare types mean nothing."""


@dataclass(frozen=True)
class Statistics:
    """Rates r_x by type, and selectivities by key of condition. What is missing is assumed."""

    rates: Mapping[str, float] = field(default_factory=dict)
    """Events per second."""
    selectivities: Mapping[str, float] = field(default_factory=dict)
    total: float | None = None
    """Events of any type per second, for windows of events; by default the sum of all rates."""

    @property
    def events_per_second(self) -> float:
        return self.total or sum(self.rates.values()) or EVENTS_PER_SECOND

    def rate(self, event: Event) -> float:
        """Return the events per second of a type that satisfy their own condition."""
        rate = self.rates.get(event.type, EVENTS_PER_SECOND)
        return rate * self.selectivities.get(own_key(event), SELECTIVITY) if event.own else rate

    def seconds(self, window: Window) -> float:
        """Return how long a window lasts."""
        return window.length if window.clock == "time" else window.length / self.events_per_second

    def selectivity(self, pattern: Pattern, condition: Condition) -> float:
        return self.selectivities.get(key_of(pattern, condition), SELECTIVITY)


def key_of(pattern: Pattern, condition: Condition) -> str:
    """Return the name of a condition in statistics: its text with types for variables, as `MSFT.diff < AAPL.diff`."""
    return filled(condition.text, [pattern.by_name[name].type for name in condition.events])


def own_key(event: Event) -> str:
    """Return the name of an event's own condition in statistics."""
    return filled(event.own, [event.type])


def is_like(one: Statistics, other: Statistics, seconds: float) -> bool:
    """Return whether no rate (over some seconds) or selectivity differs by more than a factor of `DRIFT`."""
    rates = [
        (one.rates.get(name, 0.0) * seconds + FEW_EVENTS, other.rates.get(name, 0.0) * seconds + FEW_EVENTS)
        for name in {**one.rates, **other.rates}
    ]
    known = one.selectivities.keys() & other.selectivities.keys()
    shares = [(one.selectivities[key], other.selectivities[key]) for key in known]
    return all(a < DRIFT * b and b < DRIFT * a for a, b in (*rates, *shares))
