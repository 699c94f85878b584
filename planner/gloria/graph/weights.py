"""Weights of edges (Definition 4.1): what the queries that two nodes have in common pay for the stage of the first."""

from __future__ import annotations

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.nodes import Node
from elsinore.planner.gloria.templates.template import Mask, Template


def paid(template: Template, prices: Prices, node: Node, queries: Mask) -> float:
    """For the propagation alone; a Q-set whose queries go apart pays in proportion.

    A Kleene sub-graph has the weight of its path already.
    """
    if template.stages[node.stage].kleene:
        return 0.0
    shared, alone = node.sharing
    return (alone & queries).bit_count() * prices.nonshared(node.stage) + sum(
        prices.shared(node.stage, snapshot) * (one & queries).bit_count() / one.bit_count() for one, snapshot in shared
    )


def evaluated(prices: Prices, node: Node, nodes: frozenset[int], queries: Mask, stage: int | None) -> float:
    """For the evaluations at some types, for a stage behind them or the end."""
    return sum(
        (one & queries).bit_count() * prices.evaluated(nodes, snapshot, stage)
        for one, snapshot in node.sharing[0]
        if one & queries
    )


def between(template: Template, prices: Prices, before: Node, node: Node, common: Mask) -> float:
    """The weight of an edge: for the stage before, and for the evaluations of those who do not reuse what they have."""
    stages = template.stages
    nodes = stages[before.stage].targets & frozenset(stages[node.stage].sources)
    stopped = common & ~_kept(template, before, node)
    return paid(template, prices, before, common) + evaluated(prices, before, nodes, stopped, node.stage)


def _kept(template: Template, before: Node, node: Node) -> Mask:
    """Queries that reuse their snapshots."""
    local = template.stages[node.stage].locals
    kept = 0
    for one, snapshot in before.sharing[0]:
        for other, same in node.sharing[0]:
            if same == snapshot and same not in local:
                kept |= one & other
    return kept
