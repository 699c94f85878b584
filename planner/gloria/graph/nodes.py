"""Nodes of a GLORIA graph: transition sharing plans (Definition 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from elsinore.planner.gloria.graph.record import Verdict
from elsinore.planner.gloria.templates.template import Mask

Shared = tuple[tuple[Mask, int], ...]
"""Q-sets, each with the node whose snapshots they share, the lowest mask first."""

Sharing = tuple[Shared, Mask]
"""A transition sharing plan: its Q-sets, and the queries that do not share."""


@dataclass(slots=True, eq=False)
class PoolNode:
    stage: int
    sharing: Sharing
    number: int
    distance: float
    """d_s (Equation 22)."""
    inside: float
    """The weight of the node's own path, in a Kleene sub-graph (Equation 24)."""
    edges: tuple[dict[PoolNode, float], ...]
    """By pool before it, in the order of `Pool.before`: the nodes that generated it, with the weights of the edges."""
    start: float
    """The weight of the edge from the start nodes."""
    verdict: Verdict = "keep"
    beaten_by: PoolNode | None = None

    @property
    def best(self) -> tuple[PoolNode, ...]:
        """Return, by pool before it, the node at the edge that is kept (Edge Pruning Principle)."""
        return tuple(min(some, key=lambda node: node.distance + some[node]) for some in self.edges)


@dataclass(slots=True, eq=False)
class Pool:
    """The candidate sharing plans of a stage."""

    stage: int
    before: dict[int, Mask]
    """Stages whose pools lead here, with the queries that come from each."""
    starting: Mask
    """Queries without a stage before this one."""
    nodes: list[PoolNode] = field(default_factory=list)
    """Nodes that are not pruned."""
    dropped: list[PoolNode] = field(default_factory=list)
