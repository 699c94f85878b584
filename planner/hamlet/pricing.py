"""The cost of a HAMLET share set in this engine, in nanoseconds for the events of the longest window."""

from __future__ import annotations

from elsinore.planner.costs.workload_costs import Counted, WorkloadCosts
from elsinore.planner.hamlet.calibrated import CalibratedModel
from elsinore.planner.hamlet.facts import facts_of, numbers_of
from elsinore.planner.plans.sharing import Kleene, ShareSet


def price_of_share_set(share_set: ShareSet, members: Counted, costs: WorkloadCosts) -> float:
    """Return the cost of taking events in, of graphlets, and of events that no graphlet shares."""
    shared = sum(_kleene(kleene, members, costs) for kleene in share_set.kleenes)
    return costs.taken(members) + shared + _machines(share_set, members, costs)


def _kleene(kleene: Kleene, members: Counted, costs: WorkloadCosts) -> float:
    """Return the cost of HAMLET's graphlets; sharers that take different events have one for each lane."""
    terms = CalibratedModel(costs.model.bursts).terms(facts_of(kleene, members))
    events, bursts = costs.statistics.events(kleene.type), costs.statistics.bursts(kleene.type)
    alone = terms.apart * bursts + terms.apart_event * events
    graphlet = terms.graphlet * bursts + terms.event * events
    return sum(min(graphlet + terms.query * bursts * len(lane), alone * len(lane)) for lane in kleene.lanes)


def _machines(share_set: ShareSet, members: Counted, costs: WorkloadCosts) -> float:
    """Return the cost of events that queries take in one by one."""
    shared = {(sharer.member, kleene.type) for kleene in share_set.kleenes for sharer in kleene.sharers}
    return costs.costs.member * sum(
        costs.statistics.events(name) * numbers_of(query, counter)
        for number, (query, counter) in enumerate(members)
        for name in sorted({one.type for one in counter.machine.classes})
        if (number, name) not in shared
    )
