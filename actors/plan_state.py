"""A plan as part of a state: plain values that say which queries it has and what they share.

A restored plan equals the plan that was saved, even where the planner would make another plan by now.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from elsinore.actors.state import made, unreadable
from elsinore.planner.a_seq import forest
from elsinore.planner.baselines import prefix_tree
from elsinore.planner.costs import plan_costs
from elsinore.planner.gloria import plan as sharing_plan
from elsinore.planner.gloria.graph import record
from elsinore.planner.gloria.templates import template
from elsinore.planner.language import syntax
from elsinore.planner.plans import sharing
from elsinore.planner.plans.kinds import KINDS, kind_of
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan_query
from elsinore.problems import Place

TAGS: dict[str, type] = {
    **{kind.tag: kind.made for kind in KINDS},
    # Queries
    "query": syntax.Query,
    "place": Place,
    "type": syntax.EventType,
    "kleene": syntax.Kleene,
    "seq": syntax.Seq,
    "or": syntax.Or,
    "and": syntax.And,
    "not": syntax.Not,
    "value": syntax.LiteralValue,
    "attribute": syntax.Attribute,
    "arithmetic": syntax.Arithmetic,
    "minus": syntax.Minus,
    "comparison": syntax.Comparison,
    "in": syntax.In,
    "between": syntax.Between,
    "is_null": syntax.IsNull,
    "all_of": syntax.All,
    "any_of": syntax.Any,
    "negation": syntax.Negation,
    "summary": syntax.Summary,
    "equivalence": syntax.Equivalence,
    "grouping": syntax.Grouping,
    "aggregate": syntax.Aggregate,
    "item": syntax.Item,
    "matches": syntax.Matches,
    "event_columns": syntax.EventColumns,
    "span": syntax.Span,
    # HAMLET
    "member": sharing.Member,
    "shared_kleene": sharing.Kleene,
    "sharer": sharing.Sharer,
    "compared": sharing.Compared,
    "link_lane": sharing.LinkLane,
    # GLORIA
    "plan_costs": plan_costs.PlanCosts,
    "sharing_plan": sharing_plan.SharingPlan,
    "q_set": sharing_plan.QSet,
    "graph_record": record.GraphRecord,
    "template": template.Template,
    "type_node": template.TypeNode,
    "transition": template.Transition,
    "stage": template.Stage,
    "stage_route": template.StageRoute,
    # A-Seq
    "forest": forest.Forest,
    "forest_node": forest.ForestNode,
    "forest_step": forest.ForestStep,
    "forest_route": forest.ForestRoute,
    # SHARON
    "prefix_tree": prefix_tree.PrefixTree,
    "prefix_branch": prefix_tree.Branch,
    "prefix_taken": prefix_tree.TakenEvent,
}
"""The classes that a plan may consist of, by their names in saved states. Classes and modules may be renamed and moved
freely. A tag is never changed, nor given to another class. A change of the fields of a class needs another FORMAT, but
for a field that is added with a default: ADDED names it."""

ADDED: dict[str, frozenset[str]] = {
    "query": frozenset({"limit", "limit_place"}),
    "matches": frozenset({"items", "events"}),
    "detection_set": frozenset({"strategy"}),
    "plan_costs": frozenset({"touch"}),
}
"""By tag, the fields that states of this FORMAT may lack: an earlier version wrote them, and meant the default."""

NAMES = {kind: tag for tag, kind in TAGS.items()}

WORD = range(-(2**63), 2**64)


def save_plan(plan: Plan) -> dict[str, Any]:
    return {
        "strategy": plan.strategy,
        "queries": [[_encoded(one.query), one.method, one.silent, one.panes] for one in plan.queries],
        "share_sets": [_encoded(kind_of(one).saved(one)) for one in plan.share_sets],
        "reasons": [list(reason) for reason in plan.reasons],
    }


def load_plan(state: dict[str, Any]) -> Plan:
    """Return the plan that was saved. Machines are not saved but made again: they follow from the queries."""
    queries = (
        # States of earlier versions do not say how panes are.
        replace(plan_query(_decoded(query), method), silent=silent, panes=next(iter(panes), "earlier"))
        for query, method, silent, *panes in state["queries"]
    )
    share_sets = tuple(map(_decoded, state["share_sets"]))
    return Plan(state["strategy"], tuple(queries), share_sets, tuple((name, why) for name, why in state["reasons"]))


def _encoded(value: Any) -> Any:
    match value:
        case None | bool() | str() | float():
            return value
        case int():
            return value if value in WORD else {"integer": hex(value)}
        case tuple():
            return list(map(_encoded, value))
        case frozenset():
            return {"set": sorted(map(_encoded, value), key=repr)}
        case dict():
            return {"mapping": [[_encoded(key), _encoded(one)] for key, one in value.items()]}
        case Fraction():
            return {"fraction": [_encoded(value.numerator), _encoded(value.denominator)]}
    if type(value) not in NAMES:
        raise TypeError(f"{type(value)} is no part of a plan; add it to TAGS")
    return {NAMES[type(value)]: {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}}


def _decoded(state: Any) -> Any:
    if isinstance(state, list):
        return tuple(map(_decoded, state))
    if not isinstance(state, dict):
        return state
    ((name, content),) = state.items()
    match name:
        case "integer":
            return int(content, 16)
        case "set":
            return frozenset(map(_decoded, content))
        case "mapping":
            return dict(map(_decoded, content))
        case "fraction":
            return Fraction(*map(_decoded, content))
    if name not in TAGS:
        raise unreadable(f"this state has a plan with a part called {name!r}, which this version does not know")
    if not isinstance(content, dict):
        raise unreadable(f"this state has a plan with a {name} whose fields have no names")
    document = {field: _decoded(value) for field, value in content.items()}
    return made(TAGS[name], document, name, ADDED.get(name, frozenset()))
