"""The names of the queries of a share set, and its panes, as text."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from elsinore.planner.explain.query_names import listed
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.time.spans import common, shown

WINDOWS_ONE_BY_ONE = "windows one by one: the events of each are kept for all queries, and evaluated when it is over"


def names_of(plan: Plan, share_set: ShareSet, members: Iterable[int]) -> str:
    """Return each query once; one may have several counters in a set, or the sub-pattern at several places."""
    queries = (plan.queries[share_set.members[member].query].query.name for member in members)
    return listed(dict.fromkeys(queries))


def panes_of(plan: Plan, share_set: ShareSet) -> str:
    show = shown(plan.queries[share_set.members[0].query].query)
    return f"panes of {show(_pane(plan, share_set))}: what all windows and slides are multiples of"


def _pane(plan: Plan, share_set: ShareSet) -> Fraction:
    queries = [plan.queries[member.query].query for member in share_set.members]
    return common(span.length for query in queries for span in (query.within, query.slide) if span)
