"""What a kind of share set needs of a query, by name, and what is said of a query that does not have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from elsinore.planner.plans.model import Counter, QueryPlan


@dataclass(frozen=True)
class Need:
    """A property that a counter of a query must have to be in a set, whatever the other queries are."""

    name: str
    met: Callable[[QueryPlan, Counter], bool]
    reason: str
    """Why a query without the property runs apart; `{}` stands for what `about` returns."""
    about: Callable[[QueryPlan, Counter], str | None] = lambda *_: None

    def told(self, plan: QueryPlan, counter: Counter) -> str:
        """Return why this query runs apart."""
        return self.reason.format(self.about(plan, counter))


def why_unmet(needs: Iterable[Need], plan: QueryPlan, counter: Counter) -> str | None:
    """Return what is said of the first need that a counter does not meet; None if it meets all."""
    need = unmet(needs, plan, counter)
    return need.told(plan, counter) if need else None


def unmet(needs: Iterable[Need], plan: QueryPlan, counter: Counter) -> Need | None:
    """Return the first need that a counter does not meet; None if it meets all."""
    return next((need for need in needs if not need.met(plan, counter)), None)


def any_match(reason: str) -> Need:
    """Return the need of skip-till-any-match."""
    return Need("any match", lambda plan, _: plan.query.semantics == "any", reason)


def no_conjunction(reason: str) -> Need:
    """Return the need of a pattern without AND."""
    return Need("no AND", lambda plan, _: len(plan.counters) == 1, reason)


def no_neighbours(reason: str) -> Need:
    """Return the need that no counter compares neighbours."""
    return Need("no neighbours", lambda plan, _: not any(one.event_grained for one in plan.counters), reason)


def type_grained(reason: str) -> Need:
    """Return the need that the counter itself compares no neighbours."""
    return Need("type-grained", lambda _, counter: not counter.event_grained, reason)


def slides(reason: str) -> Need:
    """Return the need of windows with a SLIDE."""
    return Need("SLIDE", lambda plan, _: not plan.per_event, reason)


def no_negation(reason: str) -> Need:
    """Return the need of a pattern without NOT."""
    return Need("no NOT", lambda _, counter: not counter.automata[0].guards, reason)
