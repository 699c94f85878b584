"""The paper's cost models: partial matches that exist at a time, and the time to process an event.

`Cost_ord` and `Cost_tree` are the same sum over different nodes: of an order its prefixes, of a tree its leaves and
inner nodes. So are their forms for many patterns, in which a node that is shared counts once.
"""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.detection.costs.cardinality import Cardinalities, by_neighbours
from elsinore.planner.detection.costs.model import Facts
from elsinore.planner.detection.pattern import Window
from elsinore.planner.detection.shape import Shape
from elsinore.planner.detection.statistics import Statistics

IN_ORDER = 0.5
"""Selectivity of the condition that two events are in a certain order ([40])."""


class Instances:
    """`Cost_ord` and `Cost_tree`: a node costs as many partial matches as it is expected to have."""

    name = "paper"
    by_split = False

    def __init__(self, statistics: Statistics, in_order: float = IN_ORDER) -> None:
        self._cardinalities = Cardinalities(statistics, by_neighbours(in_order))

    def facts(self, shape: Shape, mask: int, window: Window) -> Facts:
        return self._cardinalities.facts(shape, mask, window)

    def leaf(self, leaf: Facts) -> float:
        return leaf.matches

    def join(self, joined: Facts, left: Facts, right: Facts, triggers: float, users: int) -> float:
        return joined.matches


@dataclass(frozen=True)
class Prices:
    """Costs of an instance, in any one unit (Section 3.3)."""

    access: float = 1.0
    """C_a"""
    verify: float = 1.0
    """C_v, the conditions between an event and a partial match"""
    create: float = 2.0
    """C_n"""
    remove: float = 1.0
    """C_r"""


class Processing:
    """CP(T) + CR(T), summed over the events of a second.

    A state that accepts T is a node that joins a prefix with T's leaf: each event of T accesses and verifies all
    partial matches of the prefix, creates those that pass, and later removes them.
    """

    name = "processing"
    by_split = True

    def __init__(self, statistics: Statistics, prices: Prices | None = None, in_order: float = IN_ORDER) -> None:
        self._prices = prices or Prices()
        self._cardinalities = Cardinalities(statistics, by_neighbours(in_order))

    def facts(self, shape: Shape, mask: int, window: Window) -> Facts:
        return self._cardinalities.facts(shape, mask, window)

    def leaf(self, leaf: Facts) -> float:
        return leaf.per_second * (self._prices.create + self._prices.remove)

    def join(self, joined: Facts, left: Facts, right: Facts, triggers: float, users: int) -> float:
        tried = right.per_second * left.matches + left.per_second * right.matches * (right.size != 1)
        passed = joined.matches / (left.matches * right.matches) if left.matches * right.matches else 0.0
        of_passed = self._prices.create + self._prices.remove
        return tried * (self._prices.access + self._prices.verify + passed * of_passed)
