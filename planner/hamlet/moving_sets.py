"""Share sets of queries whose windows move with every event: which of them may share the effects of bursts."""

from __future__ import annotations

from elsinore.planner.plans.model import QueryPlan


def why_not_moving(plan: QueryPlan) -> str | None:
    """Return why such a query shares nothing, whatever its Kleene sub-patterns are; None if it may."""
    if plan.query.semantics != "any":
        return "its windows move with every event; such queries are shared under skip-till-any-match only"
    if len(plan.counters) > 1:
        return "its windows move with every event, and the trends of an AND are counted by partition and then paired up"
    return None
