"""A lower bound for the costs of all sharing plans.

A strand costs as much however many queries use it. If its cost is cut into parts, one for each query that could use it,
a plan may pay less for it than its cost, and never more. So if each query pays its own parts alone, the sum of the
least costs of all queries is a lower bound. The bound is higher if larger parts of a strand fall to queries that use it
nevertheless.
"""

from __future__ import annotations

from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.search.improve import cheapest
from elsinore.planner.gloria.search.segments import Space, space_of
from elsinore.planner.gloria.templates.template import Template, bits

ROUNDS = 40


def bound(template: Template, model: CostModel) -> float:
    """Return the highest of some lower bounds: in each round, parts move to the queries that use the strand."""
    space = space_of(template, Prices(template, model))
    parts = _even(space)
    found = 0.0
    for number in range(ROUNDS):
        least, users = _round(space, parts)
        found = max(found, least)
        _move(space, parts, users, 0.3 / (1 + 0.3 * number))
    return found


def _even(space: Space) -> list[dict[int, float]]:
    strands = zip(space.strands.cost, space.strands.queries, strict=True)
    return [dict.fromkeys(bits(who), cost / max(1, who.bit_count())) for cost, who in strands]


def _round(space: Space, parts: list[dict[int, float]]) -> tuple[float, list[set[int]]]:
    least, users = space.start, [set[int]() for _ in parts]
    for query, apart in enumerate(space.apart):
        choice = cheapest(space, query, [part.get(query, 0.0) for part in parts])
        least += sum(apart) - sum(segment.saves for segment in choice)
        for segment in choice:
            for strand in segment.strands:
                least += parts[strand][query]
                users[strand].add(query)
    return least, users


def _move(space: Space, parts: list[dict[int, float]], users: list[set[int]], step: float) -> None:
    for strand, (part, using) in enumerate(zip(parts, users, strict=True)):
        if using:
            whole = space.strands.cost[strand] / len(using)
            for query in part:
                part[query] += step * ((whole if query in using else 0.0) - part[query])
