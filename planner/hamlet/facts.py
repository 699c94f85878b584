"""Facts about a Kleene sub-pattern that a cost model needs before the first event."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import mean

from elsinore.planner.hamlet.bursts import Facts
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.sharing import Kleene


def facts_of(kleene: Kleene, members: Sequence[tuple[QueryPlan, Counter]]) -> Facts:
    """Return means over the sharers of a Kleene sub-pattern; `members` are those of its share set."""
    plans = [members[sharer.member] for sharer in kleene.sharers]
    return Facts(
        queries=len(plans),
        types=ceil(mean(len({one.type for one in counter.machine.classes}) for _, counter in plans)),
        rows=mean(_rows(plan, counter) for plan, counter in plans),
        lanes=mean(1 + len(counter.lanes) for _, counter in plans),
    )


def _rows(plan: QueryPlan, counter: Counter) -> int:
    maps = plan.window_method(counter) == "pane maps"
    return len(counter.machine.starts) if maps else plan.overlap


def numbers_of(plan: QueryPlan, counter: Counter) -> int:
    """Return how many numbers an event may change for each state that it leads to: lanes times rows."""
    return _rows(plan, counter) * (1 + len(counter.lanes)) if plan.query.slide else 1 + len(counter.lanes)
