"""What a query's aggregates keep beside each count of trends.

COUNT, SUM, AVG are sums over trends; SUM and AVG also need to know over how many values, so
that a sum over none is null. MIN and MAX live in a semiring of their own.
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
    """Over all trends: how many events of `variable`, or how many values of its attribute, their sum or extreme."""

    kind: Kind
    variable: str
    attribute: str | None = None

    def __str__(self) -> str:
        attribute = f".{self.attribute}" if self.attribute else ""
        return f"{self.kind}({self.variable}{attribute})"


def lanes(aggregates: tuple[Aggregate, ...]) -> tuple[Lane, ...]:
    """Each lane once; COUNT(*) needs none of its own."""
    found: dict[Lane, None] = {}
    for item in aggregates:
        if item.variable is not None:
            for kind in NEEDS[item.function]:
                found[Lane(kind, item.variable, item.attribute)] = None
    return tuple(found)
