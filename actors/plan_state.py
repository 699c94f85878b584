"""A plan as part of a state: plain values that tell which queries it has and who of them shares what.

A plan that is restored is the one that was saved, even where the planner would make another one by now.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from types import ModuleType
from typing import Any

from planner import forest, forest_sets, plan_costs, planned_sets, prefix_sets, prefix_tree, sharing, syntax
from planner.gloria import plan as sharing_plan
from planner.gloria import record, template
from planner.plan import Plan, plan_query
from planner.planned_sets import PlannedSet
from planner.sharing import ShareSet


def _classes(*modules: ModuleType) -> dict[str, type]:
    found = [one for module in modules for one in vars(module).values() if isinstance(one, type) and is_dataclass(one)]
    return {f"{one.__module__}.{one.__name__}": one for one in found}


CLASSES = _classes(
    syntax,
    sharing,
    plan_costs,
    planned_sets,
    prefix_sets,
    prefix_tree,
    forest,
    forest_sets,
    sharing_plan,
    template,
    record,
)
"""What a plan may be made of."""

WORD = range(-(2**63), 2**64)


def save_plan(plan: Plan) -> dict[str, Any]:
    return {
        "strategy": plan.strategy,
        "queries": [[_encoded(one.query), one.method, one.silent] for one in plan.queries],
        "share_sets": [_encoded(_executed(one)) for one in plan.share_sets],
        "reasons": [list(reason) for reason in plan.reasons],
    }


def load_plan(state: dict[str, Any]) -> Plan:
    """Machines are made anew: they follow from the queries."""
    queries = (
        replace(plan_query(_decoded(query), method), silent=silent) for query, method, silent in state["queries"]
    )
    share_sets = tuple(map(_decoded, state["share_sets"]))
    return Plan(state["strategy"], tuple(queries), share_sets, tuple((name, why) for name, why in state["reasons"]))


def _executed(share_set: ShareSet) -> ShareSet:
    """Without the graph that a plan was found in: it is only to look at, and large."""
    if not isinstance(share_set, PlannedSet):
        return share_set
    seen = record.GraphRecord((), (), share_set.plan.graph.found)
    return replace(share_set, plan=replace(share_set.plan, graph=seen))


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
    name = f"{type(value).__module__}.{type(value).__name__}"
    if name not in CLASSES:
        raise TypeError(f"{name} is no part of a plan; add its module to CLASSES")
    return {name: [_encoded(getattr(value, field.name)) for field in fields(value)]}


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
    made = CLASSES[name]
    names = [field.name for field in fields(made)]
    return made(**dict(zip(names, map(_decoded, content), strict=True)))
