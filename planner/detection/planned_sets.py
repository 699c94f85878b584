"""The plans of the sets of queries that return matches, as they are explained and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from elsinore.planner.detection.clauses import patterns_of
from elsinore.planner.detection.known import Known
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan
from elsinore.planner.detection.planning import plan_by_name
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.plans.model import Plan

SHOWN = Budget(steps=20_000)
"""The budget of a search whose plan is shown: limited by steps alone, it gives the same plan in every run."""


@dataclass(frozen=True)
class PlannedPatterns:
    """The patterns of a set, and their plan."""

    number: int
    """Of the share set in its plan, from 1."""
    patterns: tuple[Pattern, ...]
    plan: DetectionPlan
    unplanned: tuple[str, ...]
    """The queries that no pattern is from."""


def planned_sets(plan: Plan, known: Known) -> Iterator[PlannedPatterns]:
    """Yield the plan of each set with a pattern, as its strategy finds it."""
    for number, one in enumerate(plan.share_sets, 1):
        if isinstance(one, DetectionSet):
            patterns, unplanned = patterns_of_set(plan, one)
            if patterns:
                made = plan_by_name(patterns, one.strategy, known.of(patterns), SHOWN)
                yield PlannedPatterns(number, patterns, made, unplanned)


def patterns_of_set(plan: Plan, one: DetectionSet) -> tuple[tuple[Pattern, ...], tuple[str, ...]]:
    """Return the patterns of a set's queries, and the names of queries without any."""
    queries = [plan.queries[member.query].query for member in one.members]
    found = {query.name: tuple(patterns_of(normal_form(query)).values()) for query in queries}
    patterns = tuple(pattern for some in found.values() for pattern in some)
    return patterns, tuple(name for name, some in found.items() if not some)
