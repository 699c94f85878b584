"""The cost of a plan in this engine, whatever its parts: queries apart, and share sets of all kinds.

Costs are in nanoseconds, for the events of the longest window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from elsinore.planner.costs.workload_costs import Counted, WorkloadCosts
from elsinore.planner.plans.kinds import kind_of
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.sharing import ShareSet


def cost_of(queries: Mapping[int, QueryPlan], share_sets: Iterable[ShareSet], costs: WorkloadCosts) -> float:
    """Return the cost of some queries, by number, with their share sets."""
    share_sets = tuple(share_sets)
    inside = {(member.query, member.counter) for one in share_sets for member in one.members}
    alone = [
        (query, counter)
        for number, query in queries.items()
        for place, counter in enumerate(query.counters)
        if (number, place) not in inside
    ]
    sets = (_cost_of_set(one, counted(one, queries), costs) for one in share_sets)
    together = {query for query, _ in inside}
    closed = (costs.closed(query, number in together) for number, query in queries.items())
    return sum(sets) + sum(costs.apart(*one) for one in alone) + sum(closed)


def _cost_of_set(share_set: ShareSet, members: Counted, costs: WorkloadCosts) -> float:
    price = kind_of(share_set).price
    # A set of a kind without a price always shares all that it can, so there is nothing to choose.
    return price(share_set, members, costs) if price else sum(costs.apart(*one) for one in members)


def counted(share_set: ShareSet, queries: Mapping[int, QueryPlan]) -> Counted:
    return [(queries[member.query], queries[member.query].counters[member.counter]) for member in share_set.members]
