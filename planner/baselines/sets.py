"""Share sets by prefixes of flattened sequences (SHARON), and the reasons why the other queries run apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from elsinore.planner.baselines.prefix_tree import PrefixTree, prefix_tree
from elsinore.planner.explain.query_names import listed
from elsinore.planner.hamlet.share_sets import conditions
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.needs import no_negation, unmet, why_unmet
from elsinore.planner.plans.sharing import Found, Member, ShareSet

MAX_KINDS = 2**15 - 1
"""Most kinds of events in a share set: the largest number that a window's columns hold."""

NEGATED = "a match of NOT moves trends between counters, independently of the other queries"
PREFIX_NEEDS = (no_negation(NEGATED),)
FULL = f"its share set is full: with its predicates there could be more than {MAX_KINDS:,} kinds of events"
OTHER_WINDOWS = "in other windows: the events of a window are evaluated once for queries of the same WITHIN and SLIDE"
OTHER_GROUPING = "with another grouping: the events that form trends together must be the same"
NOBODY = "no other query has sequences that begin with the same events"

Places = Mapping[int, frozenset[int]]
"""By query, its counters in a tree, without that of the empty trend, which all have."""


@dataclass(frozen=True)
class PrefixSet(ShareSet):
    """Queries whose sequences begin alike, with the tree of their prefixes."""

    tree: PrefixTree


def prefix_sets(queries: tuple[QueryPlan, ...]) -> Found:
    """Return the sets of queries that have prefixes in common, directly or through others; and why the rest has none.

    The reasons are by name of the query.
    """
    flat = [q for q, plan in enumerate(queries) if not unmet(PREFIX_NEEDS, plan, plan.counters[0])]
    alike: dict[object, list[int]] = {}
    for q in flat:
        alike.setdefault((_grouping(queries[q]), _windows(queries[q])), []).append(q)
    sets = [made for numbers in alike.values() for made in _sets(queries, numbers)]
    sets.sort(key=lambda one: one.members[0].query)
    places = _places(_tree(queries, flat), flat)
    shared = {member.query for one in sets for member in one.members}
    reasons = [(plan.query.name, _why_apart(q, queries, places)) for q, plan in enumerate(queries) if q not in shared]
    return tuple(sets), tuple(reasons)


def _grouping(plan: QueryPlan) -> object:
    return plan.partition, len(plan.query.groups)


def _windows(plan: QueryPlan) -> object:
    return plan.query.within.length, plan.query.slide and plan.query.slide.length


def _members(queries: Sequence[QueryPlan], numbers: Sequence[int]) -> list[tuple[QueryPlan, Counter]]:
    return [(queries[q], queries[q].counters[0]) for q in numbers]


def _tree(queries: Sequence[QueryPlan], numbers: Sequence[int]) -> PrefixTree:
    return prefix_tree(_members(queries, numbers))


def _places(tree: PrefixTree, numbers: Sequence[int]) -> Places:
    return {q: frozenset(branch.places) - {0} for q, branch in zip(numbers, tree.branches, strict=True)}


def _sets(queries: Sequence[QueryPlan], numbers: Sequence[int]) -> Iterator[PrefixSet]:
    """Yield the sets of queries with the same grouping and windows."""
    for some in _connected(_places(_tree(queries, numbers), numbers)):
        taken: list[int] = []
        for q in some:
            if _fits(queries, [*taken, q]):
                taken.append(q)
        rest = [q for q in some if q not in taken]
        if rest:
            yield from _sets(queries, taken)
            yield from _sets(queries, rest)
        elif len(taken) > 1:
            yield PrefixSet(tuple(Member(q, 0) for q in taken), (), "any", _tree(queries, taken))


def _connected(places: Places) -> list[list[int]]:
    groups: list[tuple[list[int], frozenset[int]]] = []
    for q, own in places.items():
        near = [group for group in groups if group[1] & own]
        groups = [group for group in groups if group not in near]
        members = sorted([q, *(other for some, _ in near for other in some)])
        groups.append((members, own.union(*(others for _, others in near))))
    return [members for members, _ in groups]


def _fits(queries: Sequence[QueryPlan], numbers: Sequence[int]) -> bool:
    """Return whether there are few enough kinds; at worst, every subset of a type's sets of predicates is one."""
    return sum(2 ** len(asked) for asked in conditions(_members(queries, numbers)).values()) <= MAX_KINDS


def _why_apart(q: int, queries: Sequence[QueryPlan], places: Places) -> str:
    if reason := why_unmet(PREFIX_NEEDS, queries[q], queries[q].counters[0]):
        return reason
    alike = [other for other, own in places.items() if other != q and own & places[q]]
    grouped = [other for other in alike if _grouping(queries[other]) == _grouping(queries[q])]
    if any(_windows(queries[other]) == _windows(queries[q]) for other in grouped):
        return FULL
    if grouped:
        return f"{_begin_alike(queries, grouped)} {OTHER_WINDOWS}"
    return f"{_begin_alike(queries, alike)} {OTHER_GROUPING}" if alike else NOBODY


def _begin_alike(queries: Sequence[QueryPlan], numbers: Sequence[int]) -> str:
    return f"{listed(queries[q].query.name for q in numbers)} {'begins' if len(numbers) == 1 else 'begin'} alike, but"
