"""Reweighing of a GLORIA graph when the statistics of the stream change (GLORIA, Section 7.2).

Nodes stay as they were generated and pruned; only the weights of edges and the distances change. This takes time linear
in the edges.
"""

from __future__ import annotations

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.graph import Graph
from elsinore.planner.gloria.graph.kleene import path_weight
from elsinore.planner.gloria.graph.weights import between
from elsinore.planner.gloria.templates.template import bits


def reweigh(graph: Graph, prices: Prices) -> None:
    """Set the weights and distances of all edges and nodes by other prices."""
    template = graph.template
    for pool in graph.pools:
        stage = template.stages[pool.stage]
        start = sum(prices.start(node) for query in bits(pool.starting) for node in template.routes[query].starts)
        for node in (*pool.nodes, *pool.dropped):
            node.start = start
            node.inside = path_weight(stage, prices, node.sharing) if stage.kleene else 0.0
            node.distance = start + node.inside
            for common, some in zip(pool.before.values(), node.edges, strict=True):
                for before in some:
                    some[before] = between(template, prices, before, node, common)
                node.distance += min(before.distance + weight for before, weight in some.items())
