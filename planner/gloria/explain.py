"""A sharing plan as text: its Q-sets, the snapshots that they propagate, and the alternatives."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.explain.member_names import panes_of
from elsinore.planner.explain.query_names import listed
from elsinore.planner.gloria.graph.record import NodeRecord, PoolRecord
from elsinore.planner.gloria.plan import QSet, SharingPlan
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.gloria.templates.template import Mask, Template
from elsinore.planner.plans.model import Plan

REJECTED = 3
"""Sharing plans of a transition that are shown besides the chosen one: those nearest to the start nodes."""


def explain_planned_set(plan: Plan, planned: PlannedSet) -> Iterator[str]:
    yield panes_of(plan, planned)
    yield from explain_plan(planned.plan)


def explain_plan(plan: SharingPlan, number: int = 1) -> list[str]:
    """Return a tree: a heading and its nodes."""
    queries = listed(plan.template.names)
    heading = f"sharing plan {number}: {plan.optimizer} for {queries}; costs {plan.cost:,.4g}, apart {plan.apart:,.4g}"
    return [heading, *_nodes(plan)]


def _nodes(plan: SharingPlan) -> Iterator[str]:
    pools = {pool.stage: pool for pool in plan.graph.pools}
    if pools:
        yield "the cheapest of all plans" if plan.proved else "the cheapest plan that was found"
    for stage, sets in enumerate(plan.q_sets):
        name = stage_name(plan.template, stage)
        for one in sets:
            if one.shared:
                yield f"share {name}: {_shared(plan.template, one)}"
        alone = [one.queries for one in sets if not one.shared]
        if alone:
            yield f"apart {name}: {listed(plan.template.label(sum(alone)))}"
        if stage in pools:
            yield from (f"rejected {name}: {text}" for text in _rejected(plan, pools[stage]))


def _shared(template: Template, one: QSet) -> str:
    assert one.snapshot is not None
    how = "created here" if one.local else "reused"
    return f"{listed(template.label(one.queries))}; snapshots of {template.nodes[one.snapshot]}, {how}"


def _rejected(plan: SharingPlan, pool: PoolRecord) -> Iterator[str]:
    chosen = next(node for node in pool.nodes if node.chosen)
    others = sorted((node for node in pool.nodes if not node.chosen), key=lambda node: node.distance)
    for node in others[:REJECTED]:
        why = f", pruned for {_sets(plan.template, pool, node.beaten_by)}" if node.beaten_by else ""
        sets = node_text(plan.template, node)
        yield f"{sets}; {node.distance:,.4g} from the start instead of {chosen.distance:,.4g}{why}"
    if len(others) > REJECTED:
        yield f"{len(others) - REJECTED} more"


def _sets(template: Template, pool: PoolRecord, name: str) -> str:
    return node_text(template, next(node for node in pool.nodes if node.name == name))


def node_text(template: Template, node: NodeRecord) -> str:
    return ", ".join(q_set_text(template, *one) for one in node.q_sets)


def q_set_text(template: Template, queries: Mask, snapshot: int | None) -> str:
    """Return a Q-set as text: `(q1, q2) by A` for queries that share snapshots of A."""
    names = listed(template.label(queries))
    return f"{names} apart" if snapshot is None else f"({names}) by {template.nodes[snapshot]}"


def stage_name(template: Template, stage: int) -> str:
    """Return `A -> B`; for a Kleene sub-pattern all its transitions: `(A -> B, B -> A)+`."""
    transitions = template.stages[stage].transitions
    steps = [f"{template.nodes[one.source]} -> {template.nodes[one.target]}" for one in transitions]
    return f"({', '.join(steps)})+" if template.stages[stage].kleene else ", ".join(steps)
