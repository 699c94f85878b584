"""What is known of a stream: how many events of each type a window has, and in how many bursts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from elsinore.planner.gloria.templates.template import TypeNode

ALIKE = 10.0
"""Events of a type in a window, where nobody counted them: all types are alike."""

BURST = 10.0
"""Events of a burst, where nobody counted bursts."""


@dataclass(frozen=True)
class Statistics:
    counts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """|E|: events of a type per window; those of each local predicate too, as how many it lets through is not known."""
    other: float = ALIKE
    """For a type that is not among them."""
    lengths: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The mean length of a type's bursts."""

    def of(self, node: TypeNode) -> float:
        return self.events(node.type)

    def events(self, name: str) -> float:
        return self.counts.get(name, self.other)

    def bursts(self, name: str) -> float:
        """In a window."""
        return self.events(name) / max(1.0, self.lengths.get(name, BURST))
