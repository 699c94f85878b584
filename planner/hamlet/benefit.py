"""The benefit of sharing as HAMLET defines it (Definition 4.2), and the interface of cost models."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from elsinore.planner.hamlet.bursts import Facts
from elsinore.planner.hamlet.terms import Terms

Number = TypeVar("Number", float, npt.NDArray[np.float64])


def shared(b: Number, n: Number, s_p: Number, s_c: Number, k: Number, g: Number, t: float) -> Number:
    """Return Shared(G_E, Q_E): s_p snapshots are propagated, and s_c of them computed for each of k queries."""
    return b * n * s_p + s_c * k * g * t


def non_shared(k: Number, b: Number, n: Number) -> Number:
    """Return NonShared(G_E^i, Q_E): each of k queries looks at n predecessors of each of b events."""
    return k * b * n


def benefit(b: Number, n: Number, s_p: Number, s_c: Number, k: Number, g: Number, t: float) -> Number:
    """Return Benefit(G_E, Q_E), Equation 7: sharing is beneficial where it is above zero."""
    return non_shared(k, b, n) - shared(b, n, s_p, s_c, k, g, t)


class CostModel(Protocol):
    """The costs of two ways to run a burst, in a unit of the model's own.

    Snapshots at event level are additive: a graphlet of several rows has as many as its rows introduce in all. An event
    on which two rows differ from the base is counted twice, so the cost of sharing is never underestimated.
    """

    def terms(self, facts: Facts) -> Terms:
        """Return the cost of each part of a burst of this Kleene sub-pattern."""
        ...


class BenefitModel:
    """Definition 4.2 for a graph that opens a graphlet with each burst.

    So g = b, and one snapshot at graphlet level is created and propagated with those at event level: s_c = s_p.
    """

    def terms(self, facts: Facts) -> Terms:
        return Terms(
            graphlet=0.0,
            event=0.0,
            predecessor=1.0,
            query=0.0,
            query_event=float(facts.types),
            apart=0.0,
            apart_event=0.0,
            apart_predecessor=1.0,
        )
