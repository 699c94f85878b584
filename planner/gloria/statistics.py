"""What is known of a stream: how many events of each type a window has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from planner.gloria.template import TypeNode

ALIKE = 10.0
"""Events of a type in a window, where nobody counted them: all types are alike."""


@dataclass(frozen=True)
class Statistics:
    counts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """|E|: events of a type per window; those of each local predicate too, as how many it lets through is not known."""
    other: float = ALIKE
    """For a type that is not among them."""

    def of(self, node: TypeNode) -> float:
        return self.counts.get(node.type, self.other)
