"""Subtrees of tree-based plans as numbers: equal subtrees of different patterns get the same number (Section 5).

Two subtrees are equal if they join equal subtrees by equal conditions. The number of a subtree is found by hashing
the numbers of its two sides with the relations of their events, so that looking one up takes constant time in the
number of patterns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from elsinore.planner.detection.shape import Shape, Slots

Tree: TypeAlias = "int | tuple[Tree, Tree]"
"""A tree-based plan of a pattern: an event's number, or two trees that are joined."""

MOST_ORDERS = 24
"""Orders of slots kept of a subtree whose events can change places. Beyond it sharing may be missed, never wrong."""


@dataclass(frozen=True)
class Placed:
    """A subtree at its place in a pattern."""

    number: int
    mask: int
    orders: tuple[Slots, ...]
    """The pattern's events by slot of the subtree; several if events can change places."""

    @property
    def slots(self) -> Slots:
        return self.orders[0]


@dataclass(frozen=True)
class Subtree:
    """A subtree, as it was seen first."""

    shape: Shape
    slots: Slots
    left: int | None
    right: int | None
    left_mask: int
    right_mask: int

    @property
    def mask(self) -> int:
        return self.left_mask | self.right_mask


class Subtrees:
    """All subtrees seen so far. With `apart`, those of different patterns are never equal."""

    def __init__(self, apart: bool = False) -> None:
        self.seen: list[Subtree] = []
        self._apart = apart
        self._numbers: dict[Hashable, int] = {}
        self._placed: dict[tuple[Shape, object], Placed] = {}

    def place(self, shape: Shape, tree: Tree) -> Placed:
        """Return the number of a pattern's subtree, a new one if no equal subtree was seen."""
        found = self._placed.get((shape, tree))
        if found is None:
            found = self._leaf(shape, tree) if isinstance(tree, int) else self._join(shape, *tree)
            self._placed[shape, tree] = found
        return found

    def _leaf(self, shape: Shape, x: int) -> Placed:
        number = self._number(shape, shape.labels[x], Subtree(shape, (x,), None, None, 1 << x, 0))
        return Placed(number, 1 << x, ((x,),))

    def _join(self, shape: Shape, one: Tree, other: Tree) -> Placed:
        first, second = self.place(shape, one), self.place(shape, other)
        sides = [(first, second), (second, first)]
        if first.number != second.number:
            sides = [min(sides, key=lambda pair: _rank(shape, pair[0]))]
        found = [
            (_relations(shape, ours, theirs), (*ours, *theirs))
            for left, right in sides
            for ours in left.orders
            for theirs in right.orders
        ]
        relations = min(key for key, _ in found)
        orders = tuple(islice((slots for key, slots in found if key == relations), MOST_ORDERS))
        left, right = sides[0]
        seen = Subtree(shape, orders[0], left.number, right.number, left.mask, right.mask)
        number = self._number(shape, (left.number, right.number, relations), seen)
        return Placed(number, left.mask | right.mask, orders)

    def _number(self, shape: Shape, key: Hashable, seen: Subtree) -> int:
        if self._apart:
            key = (shape, key)
        if key not in self._numbers:
            self._numbers[key] = len(self.seen)
            self.seen.append(seen)
        return self._numbers[key]


def _rank(shape: Shape, side: Placed) -> tuple[int, int]:
    """Order sides, so that the left one has more events that a match consists of: a negated leaf is on the right."""
    return -(side.mask & ~shape.negated).bit_count(), side.number


def _relations(shape: Shape, left: Slots, right: Slots) -> tuple[object, ...]:
    """Return the relations that become complete where two orders of slots are joined."""
    pairs = tuple(shape.relations[x][y] for x in left for y in right)
    if not shape.wider:
        return pairs, ()
    whole = set(shape.wider_along({x: slot for slot, x in enumerate((*left, *right))}))
    size = len(left)
    inner = {one for one in whole if max(one[1]) < size or min(one[1]) >= size}
    return pairs, tuple(sorted(whole - inner))


def joins_of(tree: Tree) -> Iterator[Tree]:
    """Yield a tree's subtrees, children before parents."""
    if not isinstance(tree, int):
        yield from joins_of(tree[0])
        yield from joins_of(tree[1])
    yield tree


def renamed(tree: Tree, names: dict[int, int]) -> Tree:
    """Return a tree with other numbers for its events."""
    if isinstance(tree, int):
        return names[tree]
    return (renamed(tree[0], names), renamed(tree[1], names))


def mask_of(tree: Tree) -> int:
    return 1 << tree if isinstance(tree, int) else mask_of(tree[0]) | mask_of(tree[1])


def chain(order: Slots) -> Tree:
    """Return the left-deep tree of an order."""
    tree: Tree = order[0]
    for x in order[1:]:
        tree = (tree, x)
    return tree
