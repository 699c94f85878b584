"""Which queries can be in a GLORIA plan, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.gloria.templates.chains import Chain, chain_of
from elsinore.planner.hamlet.share_sets import Candidate
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.sharing import Member


def members_of(queries: tuple[QueryPlan, ...]) -> tuple[dict[Member, Chain], dict[int, str]]:
    """Return the queries that can be in a plan, and by number the reason of each other one."""
    found, apart = {}, {}
    for number, plan in enumerate(queries):
        chain, reason = _chain(plan)
        if reason is not None:
            apart[number] = reason
        elif chain is not None:
            found[Member(number, 0)] = chain
    return found, apart


def why_apart(plan: QueryPlan) -> str | None:
    """Return why a query can be in no plan, whatever the others are; None if it can."""
    return _chain(plan)[1]


def split_of(member: Member, plan: QueryPlan) -> tuple[object, ...]:
    """Return the grouping and the extremes, in which queries of one plan must agree; they are the same for HAMLET."""
    return Candidate(member, plan, {}).split


def _chain(plan: QueryPlan) -> tuple[Chain | None, str | None]:
    if len(plan.counters) != 1:
        return None, "AND counts trends of several patterns; a template has one pattern per query"
    chain = chain_of(plan, plan.counters[0])
    return chain, next(_reasons(plan, plan.counters[0], chain), None)


def _reasons(plan: QueryPlan, counter: Counter, chain: Chain | None) -> Iterator[str]:
    if plan.query.semantics != "any":
        yield "only skip-till-any-match lets every event before another be its predecessor, as snapshots take it"
    if counter.event_grained:
        yield "it compares neighbours, so each event has predecessors of its own; expressions are of all of a type"
    if plan.per_event:
        yield "its windows move with every event; a plan is for windows of WITHIN and SLIDE"
    types = [position.type for position in counter.automata[0].positions]
    if twice := next((name for name in types if types.count(name) > 1), None):
        yield f"{twice} stands at several places of the pattern; a template has each type once"
    negated = {position.type for guard in counter.automata[0].guards for position in guard.positions}
    if both := next((name for name in types if name in negated), None):
        yield f"{both} stands in NOT and outside of it"
    if chain is None:
        yield "its pattern can choose or leave something out; a plan is for sequences and Kleene sub-patterns of them"
