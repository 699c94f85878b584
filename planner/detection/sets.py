"""Queries that return matches and look for them in the same events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from elsinore.planner.language.resolve import with_events
from elsinore.planner.language.syntax import EventColumns
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.sharing import Member, ShareSet


@dataclass(frozen=True)
class DetectionSet(ShareSet):
    """Queries that split the stream alike: the events of one window serve all of them."""

    strategy: str = "auto"
    """How a plan for their patterns is chosen."""


def detection_sets(queries: tuple[QueryPlan, ...], strategy: str) -> tuple[DetectionSet, ...]:
    """Return one set for all queries that split the stream alike and have windows of one kind.

    Sets are in the order of their first queries.
    """
    alike: dict[tuple[tuple[str, ...], int, bool], list[int]] = {}
    for number, query in enumerate(queries):
        how = query.partition, len(query.query.groups), query.query.counts_events
        alike.setdefault(how, []).append(number)
    sets = (tuple(Member(number, 0) for number in numbers) for numbers in alike.values())
    return tuple(DetectionSet(members, (), "any", strategy) for members in sets)


def with_event_columns(plan: Plan, columns: EventColumns) -> Plan:
    """Return a plan whose queries that return whole events know the columns of these."""
    queries = (replace(one, query=with_events(one.query, columns)) for one in plan.queries)
    return replace(plan, queries=tuple(queries))


def explain_detection_set(_: Plan, share_set: DetectionSet) -> Iterator[str]:
    many = "" if len(share_set.members) == 1 else ", once for all queries"
    yield f"the events of the longest window are kept{many}; matches are found when their last event has come"
