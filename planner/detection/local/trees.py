"""The best tree of a pattern, also one that contains given subtrees."""

from __future__ import annotations

from collections.abc import Sequence

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
    best: list[tuple[float, int] | None] = [None] * (1 << count)
    for chosen in range(1, 1 << count):
        if chosen & (chosen - 1) == 0:
            best[chosen] = (0.0, 0)
        elif pricing.shape.closed(masks[chosen]):
            best[chosen] = _best_split(pricing, masks, best, chosen)
    return _tree(blocks, best, (1 << count) - 1)


def _unions(masks: Sequence[int]) -> list[int]:
    """Return the union of the masks of each set of blocks."""
    unions = [0] * (1 << len(masks))
    for number, mask in enumerate(masks):
        for rest in range(1 << number):
            unions[1 << number | rest] = mask | unions[rest]
    return unions


def _best_split(
    pricing: Pricing, masks: Sequence[int], best: Sequence[tuple[float, int] | None], chosen: int
) -> tuple[float, int] | None:
    found: tuple[float, int] | None = None
    left = (chosen - 1) & chosen
    while 2 * left >= chosen:
        right = chosen ^ left
        ours, theirs = best[left], best[right]
        if left > right and ours is not None and theirs is not None:
            cost = ours[0] + theirs[0] + pricing.join(masks[left], masks[right])
            if found is None or cost < found[0]:
                found = (cost, left)
        left = (left - 1) & chosen
    return found


def _tree(blocks: Sequence[Tree], best: Sequence[tuple[float, int] | None], chosen: int) -> Tree:
    if chosen & (chosen - 1) == 0:
        return blocks[chosen.bit_length() - 1]
    found = best[chosen]
    assert found is not None, "a pattern as a whole can always be joined"
    return (_tree(blocks, best, found[1]), _tree(blocks, best, chosen ^ found[1]))


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
