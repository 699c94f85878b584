"""Deal events to the graph actors that own them: choose the dealer that cuts each of Spark's blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elsinore.cluster.machines.pool import Pool
from elsinore.connectors.spark.handover import Dealt, SparkBlocks
from elsinore.planner.plans.hand_over import HandOver
from elsinore.planner.plans.routes import Ranges, Route


@dataclass(frozen=True)
class Dealing:
    """Deal blocks by the dealer on the node that has them, so that an event leaves its node at most once."""

    pool: Pool
    firsts: tuple[int, ...]
    """By place, the first key group that it owns."""
    everywhere: tuple[int, ...]
    """The routes whose events every place gets."""
    with_times: bool
    """Whether every place needs the times of all events, because windows count events."""

    def __call__(self, blocks: SparkBlocks, partition: int) -> Sequence[Sequence[Any]]:
        dealer = self.pool.dealer(blocks.node(partition))
        deal = dealer.deal.options(num_returns=len(self.firsts) + self.with_times)
        found = deal.remote(blocks.reference(partition), self.firsts, self.everywhere, self.with_times)
        times = found[len(self.firsts) :]
        return [[own, *times] for own in found[: len(self.firsts)]]


def dealing(way: HandOver, pool: Pool, ranges: Ranges, routes: Sequence[Route]) -> Dealt | None:
    """Return how blocks are dealt; None if all actors are given all blocks."""
    if way.way == "shared":
        return None
    firsts = tuple(ranges.bounds(number)[0] for number in ranges.firsts)
    everywhere = tuple(number for number, route in enumerate(routes) if route.spread)
    return Dealing(pool, firsts, everywhere, any(route.counts_events for route in routes))
