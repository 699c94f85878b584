"""A plan's share sets as text: which queries may share what, and why the other queries run apart."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.explain.counted import NOT_RUN, Counts
from elsinore.planner.explain.member_names import names_of
from elsinore.planner.explain.query_names import listed
from elsinore.planner.hamlet.template import Template, template_of_set
from elsinore.planner.plans.kinds import kind_of
from elsinore.planner.plans.model import Plan


def explain_sharing(plan: Plan, counts: Counts = NOT_RUN) -> Iterator[list[str]]:
    """Yield trees: a heading and its nodes."""
    for number, share_set in enumerate(plan.share_sets, 1):
        kind, names = kind_of(share_set), names_of(plan, share_set, range(len(share_set.members)))
        template = _template(template_of_set(plan, share_set))
        nodes = (*kind.explain(plan, share_set), *template, *counts.of_set(number))
        yield [f"share set {number}: one {kind.graph} for {names}", *nodes]
    if plan.reasons:
        yield ["queries apart", *(f"{name}: {reason}" for name, reason in plan.reasons)]


def counters_in_sets(plan: Plan) -> dict[tuple[int, int], int]:
    """Return the number of the share set by query and counter."""
    return {
        (member.query, member.counter): number
        for number, share_set in enumerate(plan.share_sets, 1)
        for member in share_set.members
    }


def _template(template: Template) -> Iterator[str]:
    for what, by_type in (("start", template.starts), ("end", template.ends), ("NOT", template.negated)):
        for name, queries in by_type.items():
            yield f"template {what} {name}: {listed(queries)}"
    for (before, after), queries in template.transitions.items():
        yield f"template {before} -> {after}: {listed(queries)}"
