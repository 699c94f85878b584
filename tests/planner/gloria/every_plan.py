"""The cheapest workload sharing plan of sequences, by looking at every one.

Definitions 2.6 and 2.7 and Equations 2 to 4, transition by transition, with no code of the optimizers. Queries are
tuples of types; a plan says for each transition how its queries are partitioned, and of each Q-set whose snapshots it
has: none (one query alone), its source's (two queries at least), or, where all its queries come from one Q-set, that
one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

Query = tuple[str, ...]
Edge = tuple[str, str]
Block = tuple[frozenset[int], str | None, bool]
"""Queries, the type of their snapshots, and whether these are created here."""


def partitions(queries: Sequence[int]) -> Iterator[list[frozenset[int]]]:
    if not queries:
        yield []
        return
    first, *others = queries
    for some in partitions(others):
        yield [frozenset({first}), *some]
        for number, block in enumerate(some):
            yield [*some[:number], block | {first}, *some[number + 1 :]]


def cheapest(queries: Sequence[Query], counts: Mapping[str, float]) -> float:
    edges = _in_order(queries)
    starts = sum(counts[query[0]] for query in queries)
    return starts + min(_costs(queries, counts, edges, {}))


def _in_order(queries: Sequence[Query]) -> list[Edge]:
    """Transitions, each behind those that some query has before it."""
    left = list(dict.fromkeys(edge for query in queries for edge in pairwise(query)))
    done: list[Edge] = []
    while left:
        edge = next(one for one in left if all(other in done for other in _before(queries, one)))
        left.remove(edge)
        done.append(edge)
    return done


def _before(queries: Sequence[Query], edge: Edge) -> Iterator[Edge]:
    for query in queries:
        steps = list(pairwise(query))
        if edge in steps[1:]:
            yield steps[steps.index(edge) - 1]


def _costs(
    queries: Sequence[Query], counts: Mapping[str, float], edges: Sequence[Edge], plan: dict[Edge, list[Block]]
) -> Iterator[float]:
    if len(plan) == len(edges):
        yield _cost(queries, counts, plan)
        return
    edge = edges[len(plan)]
    numbers = [q for q, query in enumerate(queries) if edge in pairwise(query)]
    for blocks in partitions(numbers):
        for labelled in _labelled(queries, edge, blocks, plan):
            yield from _costs(queries, counts, edges, {**plan, edge: labelled})


def _labelled(
    queries: Sequence[Query], edge: Edge, blocks: Sequence[frozenset[int]], plan: Mapping[Edge, list[Block]]
) -> Iterator[list[Block]]:
    if not blocks:
        yield []
        return
    first, *others = blocks
    for rest in _labelled(queries, edge, others, plan):
        if len(first) == 1:
            yield [(first, None, False), *rest]
        else:
            yield [(first, edge[0], True), *rest]
        snapshot = _common(queries, edge[0], first, plan)
        if snapshot is not None:
            yield [(first, snapshot, False), *rest]


def _common(queries: Sequence[Query], node: str, block: frozenset[int], plan: Mapping[Edge, list[Block]]) -> str | None:
    """The snapshots that all of a Q-set's queries bring from one and the same Q-set."""
    before = {_incoming(queries[query], query, node, plan) for query in block}
    return next(iter(before))[1] if len(before) == 1 else None


def _incoming(
    query: Query, number: int, node: str, plan: Mapping[Edge, list[Block]]
) -> tuple[frozenset[int], str | None]:
    place = query.index(node)
    if place == 0:
        return frozenset(), None
    blocks = plan[query[place - 1], node]
    return next((members, snapshot) for members, snapshot, _ in blocks if number in members)


def _cost(queries: Sequence[Query], counts: Mapping[str, float], plan: Mapping[Edge, list[Block]]) -> float:
    cost = 0.0
    for (source, target), blocks in plan.items():
        for _, snapshot, local in blocks:
            if snapshot is None:
                cost += counts[source] * counts[target]
            else:
                cost += counts[source] * (1 if local else counts[snapshot])
    for number, query in enumerate(queries):
        for place in range(1, len(query)):
            _, snapshot = _incoming(query, number, query[place], plan)
            if snapshot is not None and not _goes_on(query, number, place, plan):
                cost += counts[query[place]] * counts[snapshot]
    return cost


def _goes_on(query: Query, number: int, place: int, plan: Mapping[Edge, list[Block]]) -> bool:
    """Is the expression used on the next transition as it is?"""
    if place == len(query) - 1:
        return False
    blocks = plan[query[place], query[place + 1]]
    snapshot, local = next((one, created) for members, one, created in blocks if number in members)
    return snapshot is not None and not local
