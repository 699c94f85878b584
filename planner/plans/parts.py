"""Split a plan into parts: queries that run together, independently of all others.

Queries are in one part where a share set has counters of them. Each part is a plan of its own, so an engine can
continue some parts, begin others, and end the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from elsinore.planner.language.syntax import Query
from elsinore.planner.plans.kinds import kind_of
from elsinore.planner.plans.model import Choice, Plan, QueryPlan
from elsinore.planner.plans.sharing import Member, ShareSet


def parts_of(plan: Plan) -> tuple[Plan, ...]:
    """Return the parts of a plan, in the order of their first queries."""
    together = list(range(len(plan.queries)))
    for share_set in plan.share_sets:
        numbers = {together[member.query] for member in share_set.members}
        together = [min(numbers) if number in numbers else number for number in together]
    return tuple(_part(plan, [q for q, one in enumerate(together) if one == number]) for number in sorted({*together}))


def split_by(plan: Plan, is_of_second: Callable[[Query], bool]) -> tuple[Plan, ...]:
    """Split a plan in two by its queries, where nothing is shared across; a part without queries is left out."""
    second = [is_of_second(one.query) for one in plan.queries]
    split = ([q for q, one in enumerate(second) if one == wanted] for wanted in (False, True))
    return tuple(_part(plan, queries) for queries in split if queries)


def in_order(plan: Plan, names: Iterable[str]) -> Plan:
    """Return a plan with its queries in the order of these names."""
    places = {one.query.name: number for number, one in enumerate(plan.queries)}
    return _part(plan, [places[name] for name in names])


def _part(plan: Plan, queries: Sequence[int]) -> Plan:
    place = {query: number for number, query in enumerate(queries)}
    names = {plan.queries[query].query.name for query in queries}
    return replace(
        plan,
        queries=tuple(plan.queries[query] for query in queries),
        share_sets=tuple(renumbered(one, place) for one in plan.share_sets if one.members[0].query in place),
        reasons=tuple((name, reason) for name, reason in plan.reasons if name in names),
        choices=tuple(choice for choice in plan.choices if names.intersection(choice.queries)),
    )


def joined(strategy: str, parts: Iterable[Plan]) -> Plan:
    """Join parts into one plan."""
    queries: list[QueryPlan] = []
    share_sets: list[ShareSet] = []
    reasons: list[tuple[str, str]] = []
    choices: dict[Choice, None] = {}
    for part in parts:
        place = {number: len(queries) + number for number in range(len(part.queries))}
        queries += part.queries
        share_sets += (renumbered(one, place) for one in part.share_sets)
        reasons += part.reasons
        choices |= dict.fromkeys(part.choices)
    return Plan(strategy, tuple(queries), tuple(share_sets), tuple(reasons), tuple(choices))


def renumbered(share_set: ShareSet, place: Mapping[int, int]) -> ShareSet:
    """Return a share set with its queries renumbered by `place`."""
    members = tuple(Member(place[member.query], member.counter) for member in share_set.members)
    found: ShareSet = kind_of(share_set).renumbered(share_set, members)
    return found


def run_alike(one: Plan, other: Plan) -> bool:
    """Return whether two parts do the same work, so that one can continue from the counters of the other."""
    return _work(one) == _work(other)


def _work(part: Plan) -> tuple[object, ...]:
    """Return all that an engine sees of a part: not its costs, nor the rejected options."""
    sets = tuple(kind_of(one).work(one) for one in part.share_sets)
    return tuple((one.query, one.method) for one in part.queries), sets
