"""Node pruning (GLORIA, Section 5.2)."""

from __future__ import annotations

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.nodes import Pool, PoolNode
from elsinore.planner.gloria.templates.template import Mask


def prune(pool: Pool, prices: Prices) -> None:
    """Drop each node that a comparable one beats: one with the same Q-sets (Definition 5.9)."""
    alike: dict[tuple[Mask, ...], list[PoolNode]] = {}
    for node in pool.nodes:
        alike.setdefault(tuple(queries for queries, _ in node.sharing[0]), []).append(node)
    for nodes in alike.values():
        for node in nodes:
            node.beaten_by = next((other for other in nodes if _beats(other, node, pool.stage, prices)), None)
            if node.beaten_by is not None:
                node.verdict = "pruned"
    pool.dropped = [node for node in pool.nodes if node.verdict == "pruned"]
    pool.nodes = [node for node in pool.nodes if node.verdict == "keep"]


def _beats(one: PoolNode, other: PoolNode, stage: int, prices: Prices) -> bool:
    """Return whether a node beats another: in every Q-set the same or fewer snapshots, and nearer to the start nodes.

    This is the PoolNode Pruning Principle, but the node must also be as near once this stage is paid. On the stage,
    snapshots of its own source are an expression of length 1, however many they are; Lemma 5.11 overlooks what the node
    with more snapshots saves there.
    """
    if one is other or one.distance >= other.distance:
        return False
    pairs = list(zip(one.sharing[0], other.sharing[0], strict=True))
    if not pairs or any(mine[1] != yours[1] and not prices.fewer(mine[1], yours[1]) for mine, yours in pairs):
        return False
    paid = sum(prices.shared(stage, mine[1]) - prices.shared(stage, yours[1]) for mine, yours in pairs)
    return one.inside > 0 or one.distance + paid <= other.distance
