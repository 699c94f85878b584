"""Costs of the nodes of one pattern's plans."""

from __future__ import annotations

from elsinore.planner.detection.costs.model import CostModel, Facts, triggers
from elsinore.planner.detection.shape import Shape, bits
from elsinore.planner.detection.subtrees import Tree, joins_of, mask_of


class Pricing:
    """A cost model, a pattern and its window."""

    def __init__(self, shape: Shape, model: CostModel) -> None:
        self.shape = shape
        self.model = model
        self._facts: dict[int, Facts] = {}

    def facts(self, mask: int) -> Facts:
        found = self._facts.get(mask)
        if found is None:
            found = self.model.facts(self.shape, mask, self.shape.pattern.window)
            self._facts[mask] = found
        return found

    def leaf(self, x: int) -> float:
        return self.model.leaf(self.facts(1 << x))

    def join(self, left: int, right: int) -> float:
        """Return the cost of a node that one pattern uses."""
        first, second = self.facts(left), self.facts(right)
        return self.model.join(
            self.facts(left | right), first, second, triggers(self.shape, left, right, first, second), 1
        )

    def order(self, order: tuple[int, ...]) -> float:
        """Return the cost of an order: of its first event, and of each longer prefix."""
        total, prefix = self.leaf(order[0]), 1 << order[0]
        for x in order[1:]:
            total += self.join(prefix, 1 << x)
            prefix |= 1 << x
        return total

    def tree(self, tree: Tree) -> float:
        """Return the cost of a tree: of its leaves and inner nodes."""
        leaves = sum(self.leaf(x) for x in bits(mask_of(tree)))
        return leaves + sum(
            self.join(mask_of(one[0]), mask_of(one[1])) for one in joins_of(tree) if not isinstance(one, int)
        )
