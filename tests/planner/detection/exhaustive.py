"""All plans of small workloads and their costs, by the definitions alone: names, sets and products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from math import prod

from elsinore.planner.detection.pattern import Pattern, filled
from elsinore.planner.detection.statistics import Statistics

Nodes = dict[object, frozenset[str]]
"""What each node of a plan checks, and its events."""

Nested = str | tuple["Nested", "Nested"]


def cardinality(pattern: Pattern, names: Iterable[str], window: float, statistics: Statistics) -> float:
    """Expected matches of a projection: rates in the window, 1/2 for neighbours in time, selectivities."""
    kept = set(names)
    pairs = {(x, y) for x, y in pattern.before if {x, y} <= kept}
    near = [(x, y) for x, y in pairs if not any((x, z) in pairs and (z, y) in pairs for z in kept)]
    rates = prod(window * statistics.rates[pattern.by_name[name].type] for name in kept)
    chances = prod(
        statistics.selectivities[filled(one.text, [pattern.by_name[name].type for name in one.events])]
        for one in pattern.conditions
        if kept >= set(one.events)
    )
    return rates * 0.5 ** len(near) * chances


def orders(pattern: Pattern) -> Iterator[tuple[str, ...]]:
    return permutations(event.name for event in pattern.events)


def trees(names: Sequence[str]) -> Iterator[Nested]:
    """All binary trees over names, left and right not told apart."""
    if len(names) == 1:
        yield names[0]
        return
    first, *others = names
    for chosen in range(2 ** len(others) - 1):
        left = [first, *(name for bit, name in enumerate(others) if chosen >> bit & 1)]
        right = [name for name in names if name not in left]
        yield from product(trees(left), trees(right))


def leaves(tree: Nested) -> frozenset[str]:
    return frozenset((tree,)) if isinstance(tree, str) else leaves(tree[0]) | leaves(tree[1])


def subtrees(tree: Nested) -> Iterator[Nested]:
    yield tree
    if not isinstance(tree, str):
        yield from subtrees(tree[0])
        yield from subtrees(tree[1])


def content(pattern: Pattern, names: Iterable[str]) -> object:
    """What a projection checks, where each type stands once and events are named like their types."""
    kept = frozenset(names)
    pairs = frozenset((x, y) for x, y in pattern.before if {x, y} <= kept)
    return kept, pairs, frozenset(one for one in pattern.conditions if kept >= set(one.events))


def tree_key(pattern: Pattern, tree: Nested) -> object:
    sides = None if isinstance(tree, str) else frozenset(tree_key(pattern, side) for side in tree)
    return sides, content(pattern, leaves(tree))


def order_nodes(pattern: Pattern, order: Sequence[str]) -> Nodes:
    prefixes = [tuple(order[: end + 1]) for end in range(len(order))]
    return {(prefix, content(pattern, prefix)): frozenset(prefix) for prefix in prefixes}


def tree_nodes(pattern: Pattern, tree: Nested) -> Nodes:
    return {tree_key(pattern, one): leaves(one) for one in subtrees(tree)}


def multi_cost(patterns: Sequence[Pattern], nodes: Sequence[Nodes], statistics: Statistics) -> float:
    """The cost of a global plan: each node once, with the largest window of its users."""
    return cheapest(patterns, [[one] for one in nodes], statistics)[0]


def cheapest(
    patterns: Sequence[Pattern], plans: Sequence[Sequence[Nodes]], statistics: Statistics
) -> tuple[float, tuple[int, ...]]:
    """The least cost of a choice of one plan per pattern, and that choice, by trying all."""
    numbers: dict[object, int] = {}
    costs: list[dict[float, float]] = []
    windows = {pattern.window.length for pattern in patterns}
    numbered: list[list[list[int]]] = []
    for pattern, several in zip(patterns, plans, strict=True):
        numbered.append([])
        for nodes in several:
            for node, names in nodes.items():
                if numbers.setdefault(node, len(costs)) == len(costs):
                    costs.append({window: cardinality(pattern, names, window, statistics) for window in windows})
            numbered[-1].append([numbers[node] for node in nodes])
    found = [
        (_total(patterns, [ours[one] for ours, one in zip(numbered, choice, strict=True)], costs), choice)
        for choice in product(*(range(len(ours)) for ours in numbered))
    ]
    return min(found)


def _total(patterns: Sequence[Pattern], nodes: Sequence[Sequence[int]], costs: Sequence[dict[float, float]]) -> float:
    windows: dict[int, float] = {}
    for pattern, ours in zip(patterns, nodes, strict=True):
        for node in ours:
            windows[node] = max(windows.get(node, 0), pattern.window.length)
    return sum(costs[node][window] for node, window in windows.items())
