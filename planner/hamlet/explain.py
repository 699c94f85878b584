"""HAMLET's share sets as text: what is shared, and which queries take which events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from elsinore.planner.explain.member_names import WINDOWS_ONE_BY_ONE, names_of, panes_of
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.sharing import Kleene, LinkedSet, MovingSet, ShareSet


def explain_share_set(plan: Plan, share_set: ShareSet) -> Iterator[str]:
    yield panes_of(plan, share_set)
    for kleene in share_set.kleenes:
        yield from _kleene(plan, share_set, kleene)


def explain_moving_set(plan: Plan, share_set: MovingSet) -> Iterator[str]:
    yield "windows that move with every event: the effect of a burst on trends is computed once for all queries"
    for kleene in share_set.kleenes:
        yield from _kleene(plan, share_set, kleene)


def explain_linked_set(plan: Plan, share_set: LinkedSet) -> Iterator[str]:
    yield WINDOWS_ONE_BY_ONE
    for number, kleene in enumerate(share_set.kleenes):
        yield from _kleene(plan, share_set, kleene)
        yield from _link_lanes(plan, share_set, number)


def _kleene(plan: Plan, share_set: ShareSet, kleene: Kleene) -> Iterator[str]:
    yield f"share {kleene.type}+: {_sharers(plan, share_set, kleene, range(len(kleene.sharers)))}"
    if len(kleene.lanes) == 1:
        yield f"lane {kleene.type}+: all of them always take the same events"
        return
    for lane in kleene.lanes:
        ways = kleene.sharers[lane[0]].predicates
        taken = f"those with {' OR '.join(sorted(ways))}" if ways else "every event"
        yield f"lane {kleene.type}+: {_sharers(plan, share_set, kleene, lane)}; {taken}"


def _link_lanes(plan: Plan, share_set: LinkedSet, number: int) -> Iterator[str]:
    kleene, first = share_set.kleenes[number], 0
    for lane in share_set.lanes[number]:
        compared = [share_set.links[link] for link in lane.links]
        links = [plan.queries[share_set.members[one.member].query].predicates.links[one.link] for one in compared]
        names = _sharers(plan, share_set, kleene, range(first, first + lane.sharers))
        neighbours = f"if {' AND '.join(map(str, links))}" if links else "all of them"
        yield f"neighbours in {kleene.type}+: {names}; {neighbours}"
        first += lane.sharers


def _sharers(plan: Plan, share_set: ShareSet, kleene: Kleene, sharers: Iterable[int]) -> str:
    return names_of(plan, share_set, (kleene.sharers[sharer].member for sharer in sharers))
