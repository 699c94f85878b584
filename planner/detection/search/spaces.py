"""Spaces of solutions: multi-pattern trees of orders, and multi-pattern multitrees of trees.

A space knows which local plans a pattern may have (Theorems 4.1 and C.1) and which nodes a global plan has for each.
A search knows neither, only numbers of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from elsinore.planner.detection.costs.model import CostModel, triggers
from elsinore.planner.detection.local.orders import best_order
from elsinore.planner.detection.local.pricing import Pricing
from elsinore.planner.detection.local.trees import best_tree
from elsinore.planner.detection.pattern import Window
from elsinore.planner.detection.search.opportunities import Occurrences
from elsinore.planner.detection.shape import Shape, Slots
from elsinore.planner.detection.subtrees import Subtrees, Tree, chain, joins_of, renamed


@dataclass(frozen=True, eq=False)
class Local:
    """A local plan of one pattern."""

    number: int
    """Unique in its space."""
    tree: Tree
    nodes: frozenset[int]
    inner: dict[int, tuple[int, Tree]]
    """The node and subtree at each set of events that are joined."""

    @cached_property
    def largest_first(self) -> list[int]:
        return sorted(self.inner, key=lambda mask: (-mask.bit_count(), mask))


Keep = Callable[[int, int], bool]
"""Whether a pattern keeps a node that it uses now: given pattern and node."""


class Space(Protocol):
    least: int
    """The events of the smallest subpattern that is worth sharing."""
    shapes: Sequence[Shape]

    def best(self, pattern: int) -> Local:
        """Return the best local plan of a pattern."""
        ...

    def local(self, pattern: int, tree: Tree) -> Local: ...

    def sharing(self, part: Occurrences, patterns: Sequence[int], now: Sequence[Local], keep: Keep) -> list[Local]:
        """Return plans of patterns that have a node for a subpattern in common."""
        ...

    def price(self, node: int, window: Window, users: int) -> float: ...


class TreeSpace:
    """Multitrees (Section 5): the nodes of a pattern are the leaves and inner nodes of its tree."""

    least = 2

    def __init__(self, shapes: Sequence[Shape], model: CostModel) -> None:
        self.shapes = shapes
        self._model = model
        self._subtrees = Subtrees()
        self._pricing = [Pricing(shape, model) for shape in shapes]
        self._locals: dict[tuple[int, Tree], Local] = {}
        self._best: dict[tuple[int, int, tuple[Tree, ...]], Tree] = {}

    def best(self, pattern: int) -> Local:
        return self.local(pattern, self._best_tree(pattern, self.shapes[pattern].whole, ()))

    def _best_tree(self, pattern: int, whole: int, given: tuple[Tree, ...]) -> Tree:
        key = (pattern, whole, given)
        if key not in self._best:
            self._best[key] = best_tree(self._pricing[pattern], given, whole)
        return self._best[key]

    def local(self, pattern: int, tree: Tree) -> Local:
        key = (pattern, tree)
        if key not in self._locals:
            shape = self.shapes[pattern]
            placed = [(self._subtrees.place(shape, one), one) for one in joins_of(tree)]
            nodes = frozenset(at.number for at, _ in placed)
            inner: dict[int, tuple[int, Tree]] = {
                at.mask: (at.number, one) for at, one in placed if not isinstance(one, int)
            }
            self._locals[key] = Local(len(self._locals), tree, nodes, inner)
        return self._locals[key]

    def sharing(self, part: Occurrences, patterns: Sequence[int], now: Sequence[Local], keep: Keep) -> list[Local]:
        """Return the best trees that have the subpattern's best tree in them, and what each pattern keeps."""
        first = patterns[0]
        if not part.slots[first]:
            return [self._around(pattern, (), 0, at, keep) for pattern, at in zip(patterns, now, strict=True)]
        mask = sum(1 << x for x in part.slots[first])
        within = self._kept(first, now[0], keep, lambda other: other != mask and other & ~mask == 0)
        tree = self._best_tree(first, mask, within)
        found = []
        for pattern, at in zip(patterns, now, strict=True):
            names = dict(zip(part.slots[first], part.slots[pattern], strict=True))
            mask = sum(1 << x for x in part.slots[pattern])
            found.append(self._around(pattern, (renamed(tree, names),), mask, at, keep))
        return found

    def _around(self, pattern: int, given: tuple[Tree, ...], mask: int, now: Local, keep: Keep) -> Local:
        beside = self._kept(pattern, now, keep, lambda other: other & mask == 0)
        return self.local(pattern, self._best_tree(pattern, self.shapes[pattern].whole, (*given, *beside)))

    def _kept(self, pattern: int, now: Local, keep: Keep, fits: Callable[[int], bool]) -> tuple[Tree, ...]:
        """Return the largest subtrees that a pattern keeps, of those that fit."""
        taken, found = 0, []
        for mask in now.largest_first:
            node, tree = now.inner[mask]
            if not mask & taken and fits(mask) and keep(pattern, node):
                taken |= mask
                found.append(tree)
        return tuple(found)

    def price(self, node: int, window: Window, users: int) -> float:
        seen = self._subtrees.seen[node]
        return node_price(self._model, seen.shape, seen.left_mask, seen.right_mask, window, users)


class OrderSpace:
    """Multi-pattern trees (Section 3.2): the nodes of a pattern are the prefixes of its order."""

    least = 1

    def __init__(self, shapes: Sequence[Shape], model: CostModel) -> None:
        self.shapes = shapes
        self._model = model
        self._pricing = [Pricing(shape, model) for shape in shapes]
        self._prefixes: dict[Hashable, int] = {}
        self._seen: list[tuple[Shape, int, int]] = []
        self._locals: dict[tuple[int, Slots], Local] = {}
        self._best: dict[tuple[int, Slots, int], Slots] = {}

    def best(self, pattern: int) -> Local:
        return self._local(pattern, self._best_order(pattern, (), self.shapes[pattern].whole))

    def _best_order(self, pattern: int, prefix: Slots, whole: int) -> Slots:
        key = (pattern, prefix, whole)
        if key not in self._best:
            self._best[key] = best_order(self._pricing[pattern], prefix, whole)
        return self._best[key]

    def local(self, pattern: int, tree: Tree) -> Local:
        return self._local(pattern, order_of(tree))

    def _local(self, pattern: int, order: Slots) -> Local:
        key = (pattern, order)
        if key not in self._locals:
            prefixes = list(self._walk(self.shapes[pattern], order))
            inner = {mask: (node, chain(order[: mask.bit_count()])) for mask, node in prefixes}
            nodes = frozenset(node for _, node in prefixes)
            self._locals[key] = Local(len(self._locals), chain(order), nodes, inner)
        return self._locals[key]

    def _walk(self, shape: Shape, order: Slots) -> list[tuple[int, int]]:
        """Return the set of events and the node of each prefix."""
        node, mask, found = -1, 0, []
        for place in range(1, len(order) + 1):
            step = step_key(shape, order[:place])
            node = self._prefixes.setdefault((node, step), len(self._seen))
            if node == len(self._seen):
                self._seen.append((shape, mask, 1 << order[place - 1]))
            mask |= 1 << order[place - 1]
            found.append((mask, node))
        return found

    def sharing(self, part: Occurrences, patterns: Sequence[int], now: Sequence[Local], keep: Keep) -> list[Local]:
        """Return the best orders that start with the subpattern's best order. Nothing else can be kept."""
        first = patterns[0]
        prefix = self._best_order(first, (), sum(1 << x for x in part.slots[first]))
        found = []
        for pattern in patterns:
            names = dict(zip(part.slots[first], part.slots[pattern], strict=True))
            start = tuple(names[x] for x in prefix)
            found.append(self._local(pattern, self._best_order(pattern, start, self.shapes[pattern].whole)))
        return found

    def price(self, node: int, window: Window, users: int) -> float:
        shape, prefix, last = self._seen[node]
        return node_price(self._model, shape, prefix or last, last if prefix else 0, window, users)


def step_key(shape: Shape, prefix: Slots) -> Hashable:
    """Return what makes the last step of a prefix equal to that of another: its type, and its conditions."""
    *before, x = prefix
    wider = shape.wider_along({y: slot for slot, y in enumerate(prefix)}) if shape.wider else ()
    return (
        shape.labels[x],
        tuple(shape.relations[y][x] for y in before),
        tuple(one for one in wider if len(before) in one[1]),
    )


def order_of(tree: Tree) -> Slots:
    """Return the order of a left-deep tree."""
    order: list[int] = []
    while not isinstance(tree, int):
        if not isinstance(tree[1], int):
            raise ValueError("only a left-deep tree is an order")
        order.append(tree[1])
        tree = tree[0]
    return (tree, *reversed(order))


def node_price(model: CostModel, shape: Shape, left: int, right: int, window: Window, users: int) -> float:
    """Return the cost of a node: of a leaf, if there is no right side."""
    if not right:
        return model.leaf(model.facts(shape, left, window))
    joined, first, second = (model.facts(shape, mask, window) for mask in (left | right, left, right))
    return model.join(joined, first, second, triggers(shape, left, right, first, second), users)
