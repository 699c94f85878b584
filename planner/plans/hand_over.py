"""How events are handed over to graph actors: all blocks to all actors, or each event to its owners alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from elsinore.planner.plans.routes import Route

Way = Literal["shared", "dealt"]
Wanted = Literal["auto", "shared", "dealt"]

SHARED_ACTORS = 4
"""Most actors of one machine that are given all blocks: more would spend longer picking their events out of shared
memory than dealing them takes (docs/decisions/014-dealing-events.md)."""


@dataclass(frozen=True)
class HandOver:
    way: Way
    why: str


def chosen_hand_over(routes: Sequence[Route], actors: int, several_nodes: bool, wanted: Wanted = "auto") -> HandOver:
    """Return how events are handed over, and why; `wanted` is what the user asked for."""
    if actors == 1:
        return HandOver("shared", "one actor owns all events")
    if wanted != "auto":
        return HandOver(wanted, "the setting hand_over says so")
    if all(route.spread for route in routes):
        return HandOver("shared", "every actor searches a share of the time, and needs all events")
    if several_nodes:
        return HandOver("dealt", "actors are on several nodes, and an event moves once")
    if actors > SHARED_ACTORS:
        return HandOver("dealt", f"more than {SHARED_ACTORS} actors would each look at all events")
    return HandOver("shared", f"up to {SHARED_ACTORS} actors of one machine read all events in shared memory")
