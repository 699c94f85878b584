"""Drawing the templates of a plan: one for each share set, and one for each query that runs apart."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.drawing.drawing import Drawing, Section, Titled, sections
from elsinore.drawing.template import TemplatePicture
from elsinore.drawing.words import brief
from elsinore.planner.hamlet.template import template_of_query, template_of_set
from elsinore.planner.plans.model import Plan

MAX_LETTERS = 60
LEGEND = (
    "double box: trends end; gray: Kleene sub-pattern E+; dashed: negated; on arrows: the queries for which they hold"
)


def draw_plan(plan: Plan) -> Drawing:
    """Draw all templates of a plan, share sets first."""
    return sections([templates(plan)])


def templates(plan: Plan) -> Section:
    """Return all templates of a plan, share sets first."""
    return Section((*_sets(plan), *_apart(plan)), LEGEND)


def _sets(plan: Plan) -> Iterator[Titled]:
    for number, share_set in enumerate(plan.share_sets, 1):
        template = template_of_set(plan, share_set)
        shared = ", ".join(dict.fromkeys(f"{kleene.type}+" for kleene in share_set.kleenes))
        title = f"share set {number}: {brief(template.queries, MAX_LETTERS)}"
        what = f"may share {shared}" if shared else "shares transitions as its plan says"
        yield Titled(title, what, TemplatePicture(template).draw())


def _apart(plan: Plan) -> Iterator[Titled]:
    shared = {member.query for share_set in plan.share_sets for member in share_set.members}
    reasons = dict(plan.reasons)
    for number, query in enumerate(plan.queries):
        if number not in shared:
            name = query.query.name
            why = reasons.get(name)
            picture = TemplatePicture(template_of_query(query)).draw()
            yield Titled(brief([name], MAX_LETTERS), f"apart: {why}" if why else "apart", picture)
