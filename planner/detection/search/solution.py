"""A solution of a component: a local plan for each pattern, and what they cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elsinore.planner.detection.search.ledger import Change, Ledger, Users
from elsinore.planner.detection.search.spaces import Local, Space

NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Neighbour:
    """Other local plans for some patterns, and how that changes the cost."""

    plans: tuple[tuple[int, Local], ...]
    difference: float
    touched: dict[int, Users]


class Solution:
    """The present plans. Every equal node is shared, so that local plans define the global one (Section 3.2)."""

    def __init__(self, space: Space, plans: Sequence[Local]) -> None:
        self.space = space
        self.plans = list(plans)
        windows = [shape.pattern.window for shape in space.shapes]
        self._ledger = Ledger(windows, space.price)
        self._ranks = [self._ledger.windows.index(window) for window in windows]
        entered = [(rank, NOTHING, plan.nodes) for rank, plan in zip(self._ranks, plans, strict=True)]
        self._ledger.enter(*self._ledger.difference(entered))

    @property
    def cost(self) -> float:
        return self._ledger.total

    @property
    def signature(self) -> int:
        """Return a number that two different solutions hardly ever have in common."""
        found = 0
        for pattern, plan in enumerate(self.plans):
            found ^= _sign(pattern, plan)
        return found

    def signature_of(self, neighbour: Neighbour, own: int) -> int:
        """Return a neighbour's signature, given that of this solution."""
        for pattern, plan in neighbour.plans:
            own ^= _sign(pattern, self.plans[pattern]) ^ _sign(pattern, plan)
        return own

    def shares(self, node: int) -> bool:
        """Return whether several patterns use a node."""
        return self._ledger.users(node) > 1

    def neighbour(self, patterns: Sequence[int], plans: Sequence[Local]) -> Neighbour | None:
        """Return the solution in which patterns have other plans; None if that is this one."""
        changed = [(x, plan) for x, plan in zip(patterns, plans, strict=True) if plan is not self.plans[x]]
        if not changed:
            return None
        changes: list[Change] = []
        for x, plan in changed:
            old = self.plans[x].nodes
            changes.append((self._ranks[x], old - plan.nodes, plan.nodes - old))
        return Neighbour(tuple(changed), *self._ledger.difference(changes))

    def become(self, plans: Sequence[Local]) -> None:
        """Become the solution with given plans."""
        neighbour = self.neighbour(range(len(plans)), plans)
        if neighbour is not None:
            self.move(neighbour)

    def move(self, neighbour: Neighbour) -> None:
        """Become a neighbour that was made from the present plans."""
        for pattern, plan in neighbour.plans:
            self.plans[pattern] = plan
        self._ledger.enter(neighbour.difference, neighbour.touched)


def _sign(pattern: int, plan: Local) -> int:
    return hash((pattern, plan.number))
