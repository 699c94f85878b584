"""Drawing a plan: what its queries have in common, or how they share it."""

from __future__ import annotations

from elsinore.drawing import detection, gloria
from elsinore.drawing.drawing import Drawing, Section, sections
from elsinore.drawing.workload import templates
from elsinore.planner.detection.known import Known
from elsinore.planner.gloria.optimizers import sharing_plans
from elsinore.planner.plans.kinds import PLANNED
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import split_by


def draw_common(plan: Plan) -> Drawing:
    """Draw the templates of queries that aggregate, and the multi-pattern graphs of those that return matches."""
    return sections(detection.graphs(one) if _finds(one) else templates(one) for one in _halves(plan))


def draw_sharing(plan: Plan, known: Known) -> Drawing:
    """Draw the GLORIA graphs of queries that aggregate, and the multitrees of those that return matches."""
    return sections(detection.multitrees(one, known) if _finds(one) else _gloria(one) for one in _halves(plan))


def _halves(plan: Plan) -> tuple[Plan, ...]:
    return split_by(plan, lambda query: query.detects)


def _finds(plan: Plan) -> bool:
    return plan.queries[0].query.detects


def _gloria(plan: Plan) -> Section:
    chosen = {one.plan.template.names: one.plan for one in PLANNED.among(plan.share_sets)}
    plans, reasons = sharing_plans(plan.queries)
    return gloria.graphs([chosen.get(one.template.names, one) for one in plans], reasons, plan.queries)
