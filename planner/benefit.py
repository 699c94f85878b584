"""The benefit of sharing, as HAMLET defines it (Definition 4.2), and what any cost model has to answer."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from planner.bursts import Facts, Floats

Number = TypeVar("Number", float, npt.NDArray[np.float64])


def shared(b: Number, n: Number, s_p: Number, s_c: Number, k: Number, g: Number, t: float) -> Number:
    """Shared(G_E, Q_E): s_p snapshots are propagated, and s_c of them computed for each of k queries."""
    return b * n * s_p + s_c * k * g * t


def non_shared(k: Number, b: Number, n: Number) -> Number:
    """NonShared(G_E^i, Q_E): each of k queries looks at n predecessors of each of b events."""
    return k * b * n


def benefit(b: Number, n: Number, s_p: Number, s_c: Number, k: Number, g: Number, t: float) -> Number:
    """Benefit(G_E, Q_E), Equation 7: sharing is beneficial where it is above zero."""
    return non_shared(k, b, n) - shared(b, n, s_p, s_c, k, g, t)


class CostModel(Protocol):
    """What two ways to run a burst cost, in a unit of the model's own; element by element, over many bursts at once.

    Snapshots at event level are additive: a graphlet of several rows has as many as its rows introduce in all. An event
    on which two rows differ from the base is counted twice, so the cost of sharing is never told too low.
    """

    def graphlet(
        self, facts: Facts, events: Floats, window: Floats, queries: Floats, snapshots: Floats | float
    ) -> Floats:
        """One graphlet for some queries, with so many snapshots at event level."""
        ...

    def apart(self, facts: Facts, events: Floats, window: Floats, queries: Floats) -> Floats:
        """The same events for each of the queries by itself."""
        ...


class BenefitModel:
    """Definition 4.2 for a graph that opens a graphlet with each burst.

    So g = b, and one snapshot at graphlet level is created and propagated with those at event level: s_c = s_p.
    """

    def graphlet(
        self, facts: Facts, events: Floats, window: Floats, queries: Floats, snapshots: Floats | float
    ) -> Floats:
        s = np.add(snapshots, 1.0)
        return shared(events, window, s, s, queries, events, facts.types)

    def apart(self, facts: Facts, events: Floats, window: Floats, queries: Floats) -> Floats:
        return non_shared(queries, events, window)
