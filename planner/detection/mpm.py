"""The multi-pattern multitree MPM: tree-based plans of many patterns, with equal subtrees merged (Section 5)."""

from __future__ import annotations

from collections.abc import Container, Iterator

from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.pattern import Pattern, Window
from elsinore.planner.detection.search.spaces import node_price
from elsinore.planner.detection.shape import Shape, shape_of
from elsinore.planner.detection.subtrees import Placed, Subtree, Subtrees, Tree, joins_of

Names = str | tuple["Names", "Names"]
"""A tree with names of events at its leaves."""


class MultiPatternMultitree:
    """Trees are added and removed in O(m), for a pattern of m events. With `apart`, patterns share nothing."""

    def __init__(self, apart: bool = False) -> None:
        self.trees: dict[str, tuple[Shape, Tree]] = {}
        self._subtrees = Subtrees(apart)
        self._users: dict[int, dict[str, list[Placed]]] = {}

    def add(self, pattern: Pattern, tree: Tree) -> int:
        """Add a pattern's tree, making only the nodes that are not there; return its root."""
        if pattern.name in self.trees:
            raise ValueError(f"a pattern called {pattern.name} has a tree already; remove it first")
        shape = shape_of(pattern)
        placed = [self._subtrees.place(shape, one) for one in joins_of(tree)]
        if placed[-1].mask != shape.whole:
            raise ValueError(f"the tree of {pattern.name} lacks some of its events; join all of them")
        self.trees[pattern.name] = (shape, tree)
        for one in placed:
            self._users.setdefault(one.number, {}).setdefault(pattern.name, []).append(one)
        return placed[-1].number

    def remove(self, name: str) -> None:
        """Remove a pattern's tree, and the nodes that no other pattern shares."""
        shape, tree = self.trees.pop(name)
        for number in {self._subtrees.place(shape, one).number for one in joins_of(tree)}:
            del self._users[number][name]
            if not self._users[number]:
                del self._users[number]

    def root(self, name: str) -> int:
        """Return the node at which a pattern's matches are found."""
        return self._subtrees.place(*self.trees[name]).number

    def find(self, pattern: Pattern, tree: Tree) -> int | None:
        """Return the node equal to a subtree of a pattern, if there is one."""
        number = self._subtrees.place(shape_of(pattern), tree).number
        return number if number in self._users else None

    def nodes(self) -> Iterator[int]:
        """Yield the nodes, children before parents, by pattern."""
        seen = set()
        for shape, tree in self.trees.values():
            for one in joins_of(tree):
                number = self._subtrees.place(shape, one).number
                if number not in seen:
                    seen.add(number)
                    yield number

    def subtree(self, node: int) -> Subtree:
        return self._subtrees.seen[node]

    def users(self, node: int) -> dict[str, list[Placed]]:
        """Return the patterns that use a node, and where they have it: more than once if a type stands twice."""
        return self._users[node]

    def window(self, node: int) -> Window:
        """Return the largest window of a node's users."""
        windows = (self.trees[name][0].pattern.window for name in self._users[node])
        return max(windows, key=lambda window: window.length)

    def price(self, node: int, model: CostModel) -> float:
        """Return the cost of a node, counted once."""
        one = self.subtree(node)
        return node_price(model, one.shape, one.left_mask, one.right_mask, self.window(node), len(self._users[node]))

    def cost(self, model: CostModel) -> float:
        """Return Cost_tree^multi: the sum over all nodes."""
        return sum(self.price(node, model) for node in self.nodes())


def tree_of(pattern: Pattern, names: Names) -> Tree:
    """Return a tree that is given by names of events."""
    if isinstance(names, str):
        return shape_of(pattern).number[names]
    return (tree_of(pattern, names[0]), tree_of(pattern, names[1]))


def names_of(shape: Shape, tree: Tree) -> Names:
    """Return a tree with names of events."""
    if isinstance(tree, int):
        return shape.events[tree].name
    return (names_of(shape, tree[0]), names_of(shape, tree[1]))


def restricted(pattern: Pattern, tree: Tree, part: Pattern) -> Tree:
    """Return a tree of a pattern without the events that a part of the pattern lacks, as a tree of the part."""
    names = _among(names_of(shape_of(pattern), tree), part.by_name)
    assert names is not None
    return tree_of(part, names)


def _among(names: Names, kept: Container[str]) -> Names | None:
    if isinstance(names, str):
        return names if names in kept else None
    sides = [one for one in (_among(names[0], kept), _among(names[1], kept)) if one is not None]
    return (sides[0], sides[1]) if len(sides) == 2 else sides[0] if sides else None
