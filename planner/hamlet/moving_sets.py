"""Which queries whose windows move with every event may share what their bursts do."""

from __future__ import annotations

from elsinore.planner.plans.model import QueryPlan


def why_not_moving(plan: QueryPlan) -> str | None:
    """What rules such a query out, before one looks at its Kleene sub-patterns."""
    if plan.query.semantics != "any":
        return "its windows move with every event; such queries are shared under skip-till-any-match only"
    if len(plan.counters) > 1:
        return "its windows move with every event, and the trends of an AND are counted by partition and then paired up"
    return None
