"""Each pattern by itself, in its best order, or in a greedy one: RE ([40], Section 6.2.2)."""

from __future__ import annotations

from elsinore.planner.detection.local.orders import best_order, greedy_order
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.subtrees import chain


def ordered(request: Request) -> Trees:
    """Return each pattern's best order, as a left-deep tree."""
    return {pricing.shape.pattern.name: chain(best_order(pricing)) for pricing in request.pricing}


def reordered(request: Request) -> Trees:
    return {pricing.shape.pattern.name: chain(greedy_order(pricing)) for pricing in request.pricing}
