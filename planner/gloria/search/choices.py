"""Choices of segments for each query: their cost, and the Q-sets that they make."""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.planner.gloria.plan import QSet
from elsinore.planner.gloria.search.segments import Segment, Space
from elsinore.planner.gloria.templates.template import Template

Choice = tuple[Segment, ...]
"""Segments of one query; an empty choice runs it apart."""


def cost_of(space: Space, choices: Sequence[Choice]) -> float:
    """Return the total cost of a plan."""
    used = {strand for choice in choices for segment in choice for strand in segment.strands}
    alone = sum(alone_cost(space, query, choice) for query, choice in enumerate(choices))
    return space.start + alone + sum(space.strands.cost[strand] for strand in sorted(used))


def alone_cost(space: Space, query: int, choice: Choice) -> float:
    shared = {place for segment in choice for place in range(segment.first, segment.last)}
    apart = sum(cost for place, cost in enumerate(space.apart[query]) if place not in shared)
    return apart + sum(segment.own for segment in choice)


def lonely(choices: Sequence[Choice]) -> set[int]:
    """Return the roots that only one query uses; no plan may have such a root."""
    users: dict[int, int] = {}
    for choice in choices:
        for segment in choice:
            users[segment.strands[0]] = users.get(segment.strands[0], 0) + 1
    return {root for root, count in users.items() if count == 1}


def q_sets_of(template: Template, choices: Sequence[Choice]) -> tuple[tuple[QSet, ...], ...]:
    """Return the Q-sets by stage: shared ones first, then those of single queries."""
    found: list[dict[int, tuple[int, int | None, int]]] = [{} for _ in template.stages]
    for query, (route, choice) in enumerate(zip(template.routes, choices, strict=True)):
        shared = dict[int, None]()
        for segment in choice:
            for number, strand in enumerate(segment.strands):
                place = segment.first + number
                before = segment.strands[number - 1] if number else None
                known = found[route.stages[place]].get(strand, (0, before, segment.snapshot))
                found[route.stages[place]][strand] = known[0] | 1 << query, before, segment.snapshot
                shared[place] = None
        for place, stage in enumerate(route.stages):
            if place not in shared:
                found[stage][-1 - query] = 1 << query, None, -1
    order = [sorted(sets, key=lambda strand: (strand < 0, abs(strand))) for sets in found]
    number_of = {strand: number for strands in order for number, strand in enumerate(strands) if strand >= 0}
    return tuple(
        tuple(_q_set(*sets[strand], strand >= 0, number_of) for strand in strands)
        for sets, strands in zip(found, order, strict=True)
    )


def _q_set(queries: int, before: int | None, snapshot: int, shared: bool, number_of: dict[int, int]) -> QSet:
    if not shared:
        return QSet(queries)
    return QSet(queries, snapshot, before is None, None if before is None else number_of[before])
