"""The sums and minima that a forest keeps beside its counts, by node and by target.

A node has a lane if a member whose route goes through the node needs it, and events up to the node add to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from elsinore.planner.a_seq.forest import Forest

Added = tuple[int, int]
"""A node, and the column that its events add up or compare."""

Lane = tuple[int, int, int]
"""The number of a piece of the route, then node and column as in `Added`: a route may go along one tree twice."""

Chain = tuple[tuple[int, ...], ...]
"""The pieces that trends have gone through."""


@dataclass(frozen=True)
class Target:
    """What is counted at the end of a chain: the trends that have gone through it, and the lanes needed of these."""

    chain: Chain
    sums: tuple[Lane, ...]
    minima: tuple[Lane, ...]

    @property
    def leaf(self) -> int:
        return self.chain[-1][-1]

    def up_to(self, pieces: int) -> Target:
        """Return the target of the first `pieces` pieces, with the lanes of these."""
        sums, minima = (tuple(lane for lane in own if lane[0] < pieces) for own in (self.sums, self.minima))
        return Target(self.chain[:pieces], sums, minima)

    def with_lanes(self, other: Target) -> Target:
        """Return the target with the lanes of both."""
        sums, minima = dict.fromkeys((*self.sums, *other.sums)), dict.fromkeys((*self.minima, *other.minima))
        return Target(self.chain, tuple(sums), tuple(minima))


class NodeLanes:
    """The columns of all nodes: each has `counts` columns for counts, and then its lanes."""

    def __init__(self, forest: Forest, targets: Sequence[tuple[Chain, tuple[Lane, ...]]], counts: int) -> None:
        self.forest = forest
        self.counts = counts
        self.added: list[list[Added]] = [[] for _ in forest.nodes]
        for chain, lanes in targets:
            for piece, node, number in lanes:
                nodes = chain[piece]
                for one in nodes[nodes.index(node) :]:
                    if (node, number) not in self.added[one]:
                        self.added[one].append((node, number))
        self.at = list(accumulate((counts + len(some) for some in self.added), initial=0))

    def column(self, node: int, one: Added) -> int:
        return self.at[node] + self.counts + self.added[node].index(one)

    def flow(self, node: int) -> Iterator[tuple[int, int]]:
        """Yield the columns that a node gets from its parent, as pairs (from, to), the count first."""
        parent = self.forest.nodes[node].parent
        if parent is not None:
            yield from ((self.at[parent] + k, self.at[node] + k) for k in range(self.counts))
            yield from (
                (self.column(parent, one), self.column(node, one)) for one in self.added[node] if one[0] != node
            )

    def own(self, node: int) -> Iterator[tuple[int, int]]:
        """Return the columns to which the node's own events add, each with the column of values that is added."""
        return ((self.column(node, one), one[1]) for one in self.added[node] if one[0] == node)

    def told(self, target: Target, lanes: Sequence[Lane], before: Sequence[Lane]) -> Iterator[tuple[int, int]]:
        """Yield, by lane of a target, the count first, its place in the connection before and its column in the piece.

        One of them is -1: a lane is in only one of both. `before` are the lanes of that connection.
        """
        yield from ((-1, self.at[target.leaf] + k) for k in range(self.counts))
        for lane in lanes:
            if lane[0] == len(target.chain) - 1:
                yield -1, self.column(target.leaf, lane[1:])
            else:
                yield self.counts + before.index(lane), -1
