"""Weights of edges (Definition 4.1): the costs of the first node's stage for the queries that both nodes have."""

from __future__ import annotations

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.nodes import PoolNode
from elsinore.planner.gloria.templates.template import Mask, Template


def paid(template: Template, prices: Prices, node: PoolNode, queries: Mask) -> float:
    """Return the cost of propagation for some queries; where a Q-set's queries go apart, each pays in proportion.

    It is 0 for a Kleene sub-graph, whose node has the weight of its path already.
    """
    if template.stages[node.stage].kleene:
        return 0.0
    shared, alone = node.sharing
    return (alone & queries).bit_count() * prices.nonshared(node.stage) + sum(
        prices.shared(node.stage, snapshot) * (one & queries).bit_count() / one.bit_count() for one, snapshot in shared
    )


def evaluated(prices: Prices, node: PoolNode, nodes: frozenset[int], queries: Mask, stage: int | None) -> float:
    """Return the cost of the evaluations at some types, for a stage behind them or, without one, for the end."""
    return sum(
        (one & queries).bit_count() * prices.evaluated(nodes, snapshot, stage)
        for one, snapshot in node.sharing[0]
        if one & queries
    )


def between(template: Template, prices: Prices, before: PoolNode, node: PoolNode, common: Mask) -> float:
    """Return the weight of an edge: the stage before, and evaluations for queries that do not reuse expressions."""
    stages = template.stages
    nodes = stages[before.stage].targets & frozenset(stages[node.stage].sources)
    stopped = common & ~_kept(template, before, node)
    return paid(template, prices, before, common) + evaluated(prices, before, nodes, stopped, node.stage)


def _kept(template: Template, before: PoolNode, node: PoolNode) -> Mask:
    """Return the queries that reuse their snapshots."""
    local = template.stages[node.stage].locals
    kept = 0
    for one, snapshot in before.sharing[0]:
        for other, same in node.sharing[0]:
            if same == snapshot and same not in local:
                kept |= one & other
    return kept
