"""What is kept beside the counts of a forest: sums and minima, by node and by target.

A node has those lanes that some member asks for which goes through it, and that events up to it have added to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from elsinore.planner.a_seq.forest import Forest

Added = tuple[int, int]
"""A node, and the column that its events add up or compare."""

Lane = tuple[int, int, int]
"""The same behind the piece of the route that the node is in: a route may go along one tree twice."""

Chain = tuple[tuple[int, ...], ...]
"""The pieces that trends have gone through."""


@dataclass(frozen=True)
class Target:
    """What trends are counted for: those that have gone through a chain."""

    chain: Chain
    sums: tuple[Lane, ...]
    minima: tuple[Lane, ...]

    @property
    def leaf(self) -> int:
        return self.chain[-1][-1]

    def up_to(self, pieces: int) -> Target:
        """As far as so many pieces know of it."""
        sums, minima = (tuple(lane for lane in own if lane[0] < pieces) for own in (self.sums, self.minima))
        return Target(self.chain[:pieces], sums, minima)

    def with_lanes(self, other: Target) -> Target:
        """What both need."""
        sums, minima = dict.fromkeys((*self.sums, *other.sums)), dict.fromkeys((*self.minima, *other.minima))
        return Target(self.chain, tuple(sums), tuple(minima))


class NodeLanes:
    """The columns of all nodes: so many `counts` each, and behind them their lanes."""

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
        """What comes from the node before: from and to, the count first."""
        parent = self.forest.nodes[node].parent
        if parent is not None:
            yield from ((self.at[parent] + k, self.at[node] + k) for k in range(self.counts))
            yield from (
                (self.column(parent, one), self.column(node, one)) for one in self.added[node] if one[0] != node
            )

    def own(self, node: int) -> Iterator[tuple[int, int]]:
        """What its own events add to: columns, and what they add up or compare."""
        return ((self.column(node, one), one[1]) for one in self.added[node] if one[0] == node)

    def told(self, target: Target, lanes: Sequence[Lane], before: Sequence[Lane]) -> Iterator[tuple[int, int]]:
        """For each lane of a target, its place among those of the connection before, and its column in the last piece;
        -1 for the one that it is not in. `before` are the lanes of that connection."""
        yield from ((-1, self.at[target.leaf] + k) for k in range(self.counts))
        for lane in lanes:
            if lane[0] == len(target.chain) - 1:
                yield -1, self.column(target.leaf, lane[1:])
            else:
                yield self.counts + before.index(lane), -1
