"""The cost of a global plan, kept up to date node by node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from elsinore.planner.detection.pattern import Window

Users = tuple[int, ...]
"""How many patterns use a node, by the rank of their windows, the largest window first."""

Change = tuple[int, Collection[int], Collection[int]]
"""The rank of a pattern's window, nodes that it no longer uses, and nodes that it uses now."""


class Ledger:
    """Which nodes are used by how many patterns. A node costs once, with the largest window of its users."""

    def __init__(self, windows: Sequence[Window], price: Callable[[int, Window, int], float]) -> None:
        self.windows = sorted(set(windows), key=lambda window: (-window.length, window.clock))
        self._price = price
        self._nobody: Users = (0,) * len(self.windows)
        self._users: dict[int, Users] = {}
        self._prices: dict[tuple[int, Users], float] = {}
        self.total = 0.0

    def users(self, node: int) -> int:
        return sum(self._users.get(node, ()))

    def difference(self, changes: Sequence[Change]) -> tuple[float, dict[int, Users]]:
        """Return how the cost changes, and the new users of each node that is touched."""
        touched: dict[int, Users] = {}
        for rank, leaving, entering in changes:
            self._count(touched, leaving, rank, -1)
            self._count(touched, entering, rank, 1)
        cost = 0.0
        for node, users in touched.items():
            cost += self._cost(node, users) - self._cost(node, self._users.get(node, self._nobody))
        return cost, touched

    def _count(self, touched: dict[int, Users], nodes: Collection[int], rank: int, by: int) -> None:
        for node in nodes:
            users = touched.get(node)
            if users is None:
                users = self._users.get(node, self._nobody)
            touched[node] = (*users[:rank], users[rank] + by, *users[rank + 1 :])

    def _cost(self, node: int, users: Users) -> float:
        key = (node, users)
        found = self._prices.get(key)
        if found is None:
            rank = next((rank for rank, count in enumerate(users) if count), None)
            found = 0.0 if rank is None else self._price(node, self.windows[rank], sum(users))
            self._prices[key] = found
        return found

    def enter(self, cost: float, touched: dict[int, Users]) -> None:
        """Make a difference that was computed for the present users permanent."""
        self._users.update(touched)
        self.total += cost
