"""RE: each pattern by itself, in a greedy order ([40], Section 6.2.2)."""

from __future__ import annotations

from elsinore.planner.detection.local.orders import greedy_order
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.subtrees import chain


def reordered(request: Request) -> Trees:
    return {pricing.shape.pattern.name: chain(greedy_order(pricing)) for pricing in request.pricing}
