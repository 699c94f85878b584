"""Statistics of a stream: how many events of each type a window has, and in how many bursts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from elsinore.planner.gloria.templates.template import TypeNode

ALIKE = 10.0
"""Default number of events of a type in a window, for streams that were not counted: all types are alike."""

BURST = 10.0
"""Default number of events in a burst, for types whose bursts were not counted."""


@dataclass(frozen=True)
class Statistics:
    counts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """|E|: events of a type per window, taken for each of its local predicates too: their selectivity is not known."""
    other: float = ALIKE
    """Events per window of a type that is not in `counts`."""
    lengths: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Mean length of a type's bursts, in events."""
    partitions: float = 1.0
    """Partitions with events in a window. Events and bursts are those of one of them."""

    def of(self, node: TypeNode) -> float:
        return self.events(node.type)

    def events(self, name: str) -> float:
        return self.counts.get(name, self.other)

    def bursts(self, name: str) -> float:
        """Return the number of a type's bursts in a window."""
        return self.events(name) / max(1.0, self.lengths.get(name, BURST))
