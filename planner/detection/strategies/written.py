"""Plans as they are written: from left to right, with parts that are joined first."""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.planner.detection.shape import Shape, Slots
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.subtrees import Tree, mask_of


def as_written(request: Request) -> Trees:
    """Return left-deep trees in the order of the text. A NOT comes as soon as its neighbours are bound."""
    return {shape.pattern.name: written_tree(shape) for shape in request.shapes}


def written_tree(shape: Shape, given: Sequence[Tree] = (), whole: int | None = None) -> Tree:
    """Return the tree that joins given parts and single events from left to right."""
    mask = shape.whole if whole is None else whole
    taken = sum(mask_of(tree) for tree in given)
    first = {_first(shape, mask_of(tree)): tree for tree in given}
    blocks = [first.get(x, x) for x in written_order(shape, mask) if x in first or not taken >> x & 1]
    return _joined(shape, blocks)


def nested_tree(shape: Shape, masks: Sequence[int], whole: int | None = None) -> Tree:
    """Return the tree as written that has a subtree for each of some sets, disjoint or within each other."""
    mask = shape.whole if whole is None else whole
    inner = [one for one in dict.fromkeys(masks) if one & ~mask == 0 and one != mask]
    outer = [one for one in inner if not any(one & ~other == 0 and one != other for other in inner)]
    return written_tree(shape, [nested_tree(shape, inner, one) for one in outer], mask)


def _first(shape: Shape, mask: int) -> int:
    return next(x for x in shape.written if mask >> x & 1)


def _joined(shape: Shape, blocks: Sequence[Tree]) -> Tree:
    """Join blocks one after the other; one that has to wait for its neighbours is taken as soon as it can be."""
    waiting, tree, mask = list(blocks), None, 0
    while waiting:
        block = next(one for one in waiting if tree is None or shape.closed(mask | mask_of(one)))
        waiting.remove(block)
        tree, mask = (block if tree is None else (tree, block)), mask | mask_of(block)
    assert tree is not None
    return tree


def written_order(shape: Shape, mask: int) -> Slots:
    """Return events in the order of the text, a negated one once all that it needs is there."""
    order: list[int] = []
    waiting = [x for x in shape.written if mask >> x & 1]
    while waiting:
        done = sum(1 << x for x in order)
        x = next(x for x in waiting if shape.needs[x] & ~done == 0)
        waiting.remove(x)
        order.append(x)
    return tuple(order)
