"""Which queries can be in a GLORIA plan, and why the others cannot."""

from __future__ import annotations

from elsinore.planner.gloria.templates.chains import Chain, chain_of
from elsinore.planner.hamlet.share_sets import Candidate
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.needs import Need, any_match, no_conjunction, slides, type_grained, why_unmet
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
    counter = plan.counters[0]
    if reason := why_unmet(QUERY_NEEDS, plan, counter):
        return None, reason
    chain = chain_of(plan, counter)
    return chain, None if chain else CHAINED.told(plan, counter)


def _twice(_: QueryPlan, counter: Counter) -> str | None:
    types = [position.type for position in counter.automata[0].positions]
    return next((name for name in types if types.count(name) > 1), None)


def _inside_and_outside(_: QueryPlan, counter: Counter) -> str | None:
    whole = counter.automata[0]
    negated = {position.type for guard in whole.guards for position in guard.positions}
    return next((position.type for position in whole.positions if position.type in negated), None)


QUERY_NEEDS = (
    no_conjunction("AND counts trends of several patterns; a template has one pattern per query"),
    any_match("only skip-till-any-match lets every event before another be its predecessor, as snapshots take it"),
    type_grained("it compares neighbours, so each event has predecessors of its own; expressions are of all of a type"),
    slides("its windows move with every event; a plan is for windows of WITHIN and SLIDE"),
    Need(
        "types once",
        lambda plan, counter: _twice(plan, counter) is None,
        "{} stands at several places of the pattern; a template has each type once",
        _twice,
    ),
    Need(
        "types in or outside of NOT",
        lambda plan, counter: _inside_and_outside(plan, counter) is None,
        "{} stands in NOT and outside of it",
        _inside_and_outside,
    ),
)
CHAINED = Need(
    "chain",
    lambda plan, counter: chain_of(plan, counter) is not None,
    "its pattern can choose or leave something out; a plan is for sequences and Kleene sub-patterns of them",
)
TEMPLATE_NEEDS = (*QUERY_NEEDS, CHAINED)
"""What a query needs to be in a template."""
