"""Weights of edges (Definition 4.1): what the queries that two nodes have in common pay for the stage of the first."""

from __future__ import annotations

from planner.gloria.nodes import Node
from planner.gloria.prices import Prices
from planner.gloria.template import Mask, Template


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


def evaluated(prices: Prices, node: Node, nodes: frozenset[int], queries: Mask) -> float:
    """For the evaluations at some types."""
    return sum(
        (one & queries).bit_count() * prices.evaluated(nodes, snapshot)
        for one, snapshot in node.sharing[0]
        if one & queries
    )
