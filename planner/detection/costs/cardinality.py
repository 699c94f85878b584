"""Expected numbers of partial matches (Sections 3.3 and Appendix C; for order, NOT and Kleene closure as in [40])."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb, prod

from elsinore.planner.detection.costs.model import Facts
from elsinore.planner.detection.pattern import Event, Kind, Window
from elsinore.planner.detection.shape import Shape, bits
from elsinore.planner.detection.statistics import Statistics

MOST_LISTED = 1000
"""Events of a list's type above which the number of its subsets, 2^n, is no longer told apart from infinity."""

MOST_MATCHES = 1e100
"""Partial matches above which no more are told apart: sums and products of costs stay finite."""

Ordered = Callable[[Shape, int], float]
"""The part of all choices of positive events that are in the order of a pattern's structure."""


class Cardinalities:
    """Expected partial matches of each set of events; computed once per set and window."""

    def __init__(self, statistics: Statistics, ordered: Ordered) -> None:
        self.statistics = statistics
        self._ordered = ordered
        self._facts: dict[tuple[Shape, int, Window], Facts] = {}

    def facts(self, shape: Shape, mask: int, window: Window) -> Facts:
        key = (shape, mask, window)
        if key not in self._facts:
            self._facts[key] = self._estimate(shape, mask, window)
        return self._facts[key]

    def _estimate(self, shape: Shape, mask: int, window: Window) -> Facts:
        seconds = self.statistics.seconds(window)
        positive = mask & ~shape.negated or mask
        ordered = self._ordered(shape, positive)
        matches = prod((self._amount(shape.events[x], seconds) for x in bits(positive)), start=ordered)
        matches *= self._selectivity(shape, positive)
        for x in bits(mask & ~positive):
            matches *= self._unforbidden(shape, positive, x, seconds)
        return Facts(min(matches, MOST_MATCHES), ordered, positive.bit_count(), seconds)

    def _amount(self, event: Event, seconds: float) -> float:
        count = self.statistics.rate(event) * seconds
        return lists(count, event.least, event.most) if event.kind is Kind.KLEENE else count

    def _selectivity(self, shape: Shape, mask: int) -> float:
        """Return the product of the selectivities of all conditions on a set of events."""
        return prod(
            self.statistics.selectivity(shape.pattern, condition)
            for condition in shape.pattern.conditions
            if shape.mask(condition.events) & ~mask == 0
        )

    def _unforbidden(self, shape: Shape, positive: int, negated: int, seconds: float) -> float:
        """Return the part of matches that no event of a negated type forbids.

        k events leave gaps of 1/(k+1) of the window on average; with exponential gaps and Poisson arrivals at rate r a
        gap of mean g is empty with probability 1 / (1 + r g).
        """
        both = positive | 1 << negated
        own = self._selectivity(shape, both) / (self._selectivity(shape, positive) or 1.0)
        gap = seconds / (positive.bit_count() + 1)
        return 1 / (1 + self.statistics.rate(shape.events[negated]) * own * gap)


def lists(count: float, least: int, most: int | None) -> float:
    """Return the expected lists of a Kleene closure: subsets of so many events with sizes within bounds.

    Without bounds that are 2^count ([40]); the empty list is left in, as there.
    """
    count = min(count, MOST_LISTED)
    if most is None:
        return 2.0**count - sum(_choices(count, size) for size in range(1, least))
    return sum(_choices(count, size) for size in range(least, most + 1))


def _choices(count: float, size: int) -> float:
    """Return the binomial coefficient of a count that need not be whole."""
    if count == int(count):
        return float(comb(int(count), size))
    return prod(max(count - number, 0.0) / (number + 1) for number in range(size))


def by_neighbours(selectivity: float) -> Ordered:
    """Return the estimate of [40]: each two neighbours in time are in order with this selectivity."""

    @cache
    def ordered(shape: Shape, mask: int) -> float:
        members = list(bits(mask))
        neighbours = sum(
            shape.before[x][y] and not any(shape.before[x][z] and shape.before[z][y] for z in members)
            for x in members
            for y in members
        )
        return selectivity**neighbours

    return ordered


def by_extensions() -> Ordered:
    """Return the exact part, if all orders of the events are equally likely: 1/k! for a sequence of k."""

    @cache
    def ordered(shape: Shape, mask: int) -> float:
        if mask & (mask - 1) == 0:
            return 1.0
        last = [x for x in bits(mask) if not any(shape.before[x][y] for y in bits(mask))]
        return sum(ordered(shape, mask & ~(1 << x)) for x in last) / mask.bit_count()

    return ordered
