"""Lanes: the numbers that a query's aggregates need beside each count of trends.

COUNT, SUM and AVG are sums over trends. SUM and AVG also need the number of values, so that a sum over no value is
null. MIN and MAX have a semiring of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elsinore.planner.language.syntax import Aggregate

Kind = Literal["events", "values", "sum", "min", "max"]

NEEDS: dict[str, tuple[Kind, ...]] = {
    "COUNT": ("events",),
    "SUM": ("values", "sum"),
    "AVG": ("values", "sum"),
    "MIN": ("values", "min"),
    "MAX": ("values", "max"),
}


@dataclass(frozen=True)
class Lane:
    """A number over all trends: of events of `variable`, or the count, sum or extreme of its attribute's values."""

    kind: Kind
    variable: str
    attribute: str | None = None

    def __str__(self) -> str:
        attribute = f".{self.attribute}" if self.attribute else ""
        return f"{self.kind}({self.variable}{attribute})"


def lanes(aggregates: tuple[Aggregate, ...]) -> tuple[Lane, ...]:
    """Return the lanes of aggregates, each once; COUNT(*) needs none of its own."""
    found: dict[Lane, None] = {}
    for item in aggregates:
        if item.variable is not None:
            for kind in NEEDS[item.function]:
                found[Lane(kind, item.variable, item.attribute)] = None
    return tuple(found)
