"""The record of a GLORIA graph: pools, nodes, edges, and what was pruned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elsinore.planner.gloria.templates.template import Mask

Verdict = Literal["keep", "pruned", "settled"]
"""`pruned`: another node of the pool has the same Q-sets with fewer snapshots, and is nearer to the start nodes.

`settled`: the plan has the node because it is cheaper, though no principle generated it, or it had been pruned.
"""


@dataclass(frozen=True)
class NodeRecord:
    """A transition sharing plan."""

    name: str
    """n1, n2, ... in the order in which they were generated."""
    q_sets: tuple[tuple[Mask, int | None], ...]
    """Queries with the node whose snapshots they share; None for queries that do not share."""
    distance: float
    """d_s: the least distance from all start nodes."""
    verdict: Verdict
    beaten_by: str | None = None
    """Name of the node that it was pruned for."""
    chosen: bool = False
    """True if the node is on the path of the plan."""


@dataclass(frozen=True)
class PoolRecord:
    stage: int
    nodes: tuple[NodeRecord, ...]


@dataclass(frozen=True)
class EdgeRecord:
    """An edge from a node, or from the start nodes (None), to a node, or to an end node (given by its queries)."""

    source: str | None
    target: str | Mask
    weight: float
    pruned: bool = False
    chosen: bool = False
    settled: bool = False
    """True if the plan has the edge, though its source did not generate its target."""


@dataclass(frozen=True)
class GraphRecord:
    pools: tuple[PoolRecord, ...]
    edges: tuple[EdgeRecord, ...]
    found: float
    """P.w of the path found in the graph; the plan costs no more, and less where it has settled nodes."""
