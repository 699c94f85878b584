"""The best tree of a pattern, also one that contains given subtrees."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from elsinore.planner.detection.local.pricing import Pricing
from elsinore.planner.detection.shape import bits
from elsinore.planner.detection.subtrees import Tree, mask_of

MOST_EXACT = 12
"""Subtrees that are left to be joined, above which they are joined greedily."""


def best_tree(pricing: Pricing, given: Sequence[Tree] = (), whole: int | None = None) -> Tree:
    """Return the cheapest tree over a set of events (all, by default) that contains disjoint subtrees."""
    blocks = blocks_of(given, pricing.shape.whole if whole is None else whole)
    return _exact(pricing, blocks) if len(blocks) <= MOST_EXACT else greedy_tree(pricing, blocks)


def blocks_of(given: Sequence[Tree], whole: int) -> list[Tree]:
    """Return given subtrees and the single events beside them, in the order of their first events."""
    taken = 0
    for tree in given:
        taken |= mask_of(tree)
    blocks: list[Tree] = [*given, *bits(whole & ~taken)]
    return sorted(blocks, key=lambda tree: mask_of(tree) & -mask_of(tree))


def _exact(pricing: Pricing, blocks: Sequence[Tree]) -> Tree:
    """Find it by dynamic programming over sets of blocks."""
    count = len(blocks)
    masks = _unions([mask_of(block) for block in blocks])
    costs, splits = [inf] * (1 << count), [0] * (1 << count)
    for chosen in range(1, 1 << count):
        if chosen & (chosen - 1) == 0:
            costs[chosen] = 0.0
        elif pricing.shape.closed(masks[chosen]):
            costs[chosen], splits[chosen] = _best_split(pricing, masks, costs, chosen)
    return _tree(blocks, splits, (1 << count) - 1)


def _unions(masks: Sequence[int]) -> list[int]:
    """Return the union of the masks of each set of blocks."""
    unions = [0] * (1 << len(masks))
    for number, mask in enumerate(masks):
        for rest in range(1 << number):
            unions[1 << number | rest] = mask | unions[rest]
    return unions


def _best_split(pricing: Pricing, masks: Sequence[int], costs: Sequence[float], chosen: int) -> tuple[float, int]:
    """Return the cost of a set and its left side; each split is looked at once, the last block on the left."""
    last = 1 << (chosen.bit_length() - 1)
    joined = 0.0 if pricing.model.by_split else pricing.join(masks[last], masks[chosen ^ last])
    best, split = inf, 0
    left = chosen
    while left := (left - 1) & chosen:
        if left < last:
            break
        cost = costs[left] + costs[chosen ^ left] + joined
        if pricing.model.by_split and cost < best:
            cost += pricing.join(masks[left], masks[chosen ^ left])
        if cost < best:
            best, split = cost, left
    return best, split


def _tree(blocks: Sequence[Tree], splits: Sequence[int], chosen: int) -> Tree:
    if chosen & (chosen - 1) == 0:
        return blocks[chosen.bit_length() - 1]
    return (_tree(blocks, splits, splits[chosen]), _tree(blocks, splits, chosen ^ splits[chosen]))


def greedy_tree(pricing: Pricing, blocks: Sequence[Tree]) -> Tree:
    """Return a tree that makes the cheapest join at each step."""
    left = list(blocks)
    while len(left) > 1:
        pairs = [
            (pricing.join(mask_of(one), mask_of(other)), place, later)
            for place, one in enumerate(left)
            for later, other in enumerate(left)
            if place < later and pricing.shape.closed(mask_of(one) | mask_of(other))
        ]
        _, place, later = min(pairs)
        other = left.pop(later)
        left[place] = (left[place], other)
    return left[0]
