"""The plan of a workload that queries come to and go from, at once (GLORIA, Section 7.2).

What runs goes on as it is, and new queries are planned among themselves: they share nothing yet with those that were
there before. `plan` looks at all of them anew; that may take its time, and the engine change again afterwards.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.parts import joined, parts_of
from elsinore.planner.plans.planning import plan


def changed(running: Plan, workload: Workload, model: CostModel | None = None) -> Plan:
    """A plan of this checked workload, with as much of the running one as there is a query left for."""
    wanted = frozenset(workload.queries)
    kept = [_silenced(part, wanted) for part in parts_of(running) if speaking(part) & wanted]
    known = frozenset[Query]().union(*map(speaking, kept))
    new = tuple(query for query in workload.queries if query not in known)
    added = plan(Workload(new, workload.text), running.strategy, model)
    return joined(running.strategy, (*kept, *parts_of(added)))


def speaking(part: Plan) -> frozenset[Query]:
    """The queries that give rows."""
    return frozenset(one.query for one in part.queries if not one.silent)


def _silenced(part: Plan, wanted: Set[Query]) -> Plan:
    """Whoever has left a set is silent for good: his rows would miss the windows in between."""
    return replace(part, queries=tuple(_heard(one, wanted) for one in part.queries))


def _heard(one: QueryPlan, wanted: Set[Query]) -> QueryPlan:
    return one if one.silent or one.query in wanted else replace(one, silent=True)
