"""The best order of a pattern, also one that starts with a given prefix."""

from __future__ import annotations

from elsinore.planner.detection.local.pricing import Pricing
from elsinore.planner.detection.shape import Slots, bits

MOST_EXACT = 12
"""Events that are left to be ordered, above which they are ordered greedily."""


def best_order(pricing: Pricing, prefix: Slots = (), whole: int | None = None) -> Slots:
    """Return the cheapest order of a set of events (of all, by default) that starts with a prefix."""
    start = sum(1 << x for x in prefix)
    end = pricing.shape.whole if whole is None else whole
    if (end & ~start).bit_count() > MOST_EXACT:
        return greedy_order(pricing, prefix, end)
    return _exact(pricing, prefix, start, end)


def _exact(pricing: Pricing, prefix: Slots, start: int, end: int) -> Slots:
    """Find it by dynamic programming over the sets of events that may be a prefix."""
    best: dict[int, tuple[float, Slots]] = {start: (0.0, prefix)}
    level = [start]
    while end not in best:
        following: dict[int, tuple[float, Slots]] = {}
        for mask in level:
            cost, order = best[mask]
            for x in bits(end & ~mask):
                joined = mask | 1 << x
                if pricing.shape.closed(joined):
                    price = cost + _step(pricing, mask, x)
                    if joined not in following or price < following[joined][0]:
                        following[joined] = (price, (*order, x))
        best.update(following)
        level = sorted(following)
    return best[end][1]


def greedy_order(pricing: Pricing, prefix: Slots = (), whole: int | None = None) -> Slots:
    """Return an order that takes the cheapest next event at each step ([40])."""
    order, mask = prefix, sum(1 << x for x in prefix)
    end = pricing.shape.whole if whole is None else whole
    while mask != end:
        possible = [x for x in bits(end & ~mask) if pricing.shape.closed(mask | 1 << x)]
        x = min(possible, key=lambda x: (_step(pricing, mask, x), x))
        order, mask = (*order, x), mask | 1 << x
    return order


def _step(pricing: Pricing, mask: int, x: int) -> float:
    return pricing.join(mask, 1 << x) if mask else pricing.leaf(x)
