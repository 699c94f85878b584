"""The three forms of HAMLET's share sets: windows of panes, predicates on neighbours, and windows that move."""

from __future__ import annotations

from elsinore.planner.hamlet.linked_sets import LINKED_NEEDS, Counted, linked_set, linked_sharers, why_links_apart
from elsinore.planner.hamlet.moving_sets import MOVING_NEEDS
from elsinore.planner.hamlet.share_sets import Form, Sharers
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.needs import slides, type_grained, why_unmet
from elsinore.planner.plans.sharing import Kleene, Member, MovingSet, ShareSet


def _compares_neighbours(plan: QueryPlan) -> bool:
    return any(counter.event_grained for counter in plan.counters)


def _all(_plan: QueryPlan, _counter: Counter, sharers: Sharers) -> Sharers:
    return sharers


def _no_kleene(plan: QueryPlan) -> str:
    if plan.query.semantics != "any":
        return "no Kleene sub-pattern E+ over a single event type that stands at one place of the pattern only"
    return "no Kleene sub-pattern E+ over a single event type"


def _why_not_moving(plan: QueryPlan) -> str:
    return why_unmet(MOVING_NEEDS, plan, plan.counters[0]) or _no_kleene(plan)


def _share_set(members: tuple[Member, ...], kleenes: tuple[Kleene, ...], counted: Counted) -> ShareSet:
    return ShareSet(members, kleenes, counted[0][0].query.semantics)


def _moving_set(members: tuple[Member, ...], kleenes: tuple[Kleene, ...], _: Counted) -> ShareSet:
    return MovingSet(members, kleenes, "any")


PANES = Form(
    needs=(slides("its windows move with every event"), type_grained("it compares neighbours")),
    narrowed=_all,
    alone=False,
    made=_share_set,
    concerns=lambda plan: not plan.per_event and not _compares_neighbours(plan),
    why_apart=_no_kleene,
    nobody="no other query has {kleenes} with the same semantics, grouping, MIN and MAX",
)
NEIGHBOURS = Form(
    needs=LINKED_NEEDS,
    narrowed=linked_sharers,
    alone=True,
    made=linked_set,
    concerns=_compares_neighbours,
    why_apart=why_links_apart,
    nobody="no other query compares neighbours in {kleenes} with the same grouping, windows, MIN and MAX",
)
MOVING = Form(
    needs=MOVING_NEEDS,
    narrowed=_all,
    alone=True,
    made=_moving_set,
    concerns=lambda plan: plan.per_event and not _compares_neighbours(plan),
    why_apart=_why_not_moving,
    nobody="no other query whose windows move with every event has {kleenes} with the same grouping, MIN and MAX",
)
