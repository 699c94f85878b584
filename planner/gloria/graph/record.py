"""What there is to see of a GLORIA graph when a plan is made: pools, nodes, edges, and what was pruned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elsinore.planner.gloria.templates.template import Mask

Verdict = Literal["keep", "pruned", "settled"]
"""Pruned, because another node of the pool has the same Q-sets with fewer snapshots, and is nearer to the start nodes.

Settled: the plan has it, though no principle generated it, or it had been pruned. It is cheaper all the same.
"""


@dataclass(frozen=True)
class NodeRecord:
    """A transition sharing plan."""

    name: str
    """n1, n2, ... in the order in which they were generated."""
    q_sets: tuple[tuple[Mask, int | None], ...]
    """Queries, and the node whose snapshots they share; None for queries that do not share."""
    distance: float
    """d_s: the least distance from all start nodes."""
    verdict: Verdict
    beaten_by: str | None = None
    """The node that it was pruned for."""
    chosen: bool = False
    """Is it on the path that is the plan?"""


@dataclass(frozen=True)
class PoolRecord:
    stage: int
    nodes: tuple[NodeRecord, ...]


@dataclass(frozen=True)
class EdgeRecord:
    """From a node, or from the start nodes (None), to a node, or to an end node (its queries)."""

    source: str | None
    target: str | Mask
    weight: float
    pruned: bool = False
    chosen: bool = False
    settled: bool = False
    """The plan has it, though the one node was not generated from the other."""


@dataclass(frozen=True)
class GraphRecord:
    pools: tuple[PoolRecord, ...]
    edges: tuple[EdgeRecord, ...]
    found: float
    """P.w of the path that was found in the graph; the plan costs no more, and less where it has settled nodes."""
