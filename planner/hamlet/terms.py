"""What a burst costs by a cost model, term by term; here, as kernels and plans read it."""

from __future__ import annotations

from typing import NamedTuple


class Terms(NamedTuple):
    """What things cost: e events, n of the window, k queries, s snapshots at event level."""

    graphlet: float
    event: float  # e (s/2 + 1): each is propagated through half of the graphlet on average
    predecessor: float  # e n (s + 1)
    query: float  # k ((s + 1) (s + 2) / 4 + 1/2): evaluations in all snapshots before, and at the end
    query_event: float  # k e (s + 1)
    apart: float  # k
    apart_event: float  # k e
    apart_predecessor: float  # k e n
