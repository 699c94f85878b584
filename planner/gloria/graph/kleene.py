"""Kleene sub-graphs (GLORIA, Section 6): a cycle path has the same sharing plan on all its transitions (Lemma 6.1)."""

from __future__ import annotations

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.nodes import Sharing
from elsinore.planner.gloria.templates.template import Stage, Transition


def path_weight(stage: Stage, prices: Prices, sharing: Sharing) -> float:
    """Return P.w of a cycle path: the sum over its edges of the cost of the type between two transitions.

    A transition into the inner one of nested cycles is followed by two, so it is on two edges (Table 5: 1204).
    """
    shared, alone = sharing
    return sum(
        _followers(stage, one)
        * (
            alone.bit_count() * prices.apart(one)
            + sum(_cost(prices, one, snapshot, queries.bit_count()) for queries, snapshot in shared)
        )
        for one in stage.transitions
    )


def _followers(stage: Stage, transition: Transition) -> int:
    return sum(other.source == transition.target for other in stage.transitions)


def _cost(prices: Prices, transition: Transition, snapshot: int, queries: int) -> float:
    if transition.target == snapshot:
        together, each = prices.renewal(transition)
        return together + queries * each
    return prices.step(transition, snapshot)
