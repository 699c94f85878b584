"""Change a plan at once when queries come and go (GLORIA, Section 7.2).

Running parts continue as they are. New queries are planned among themselves, so they share nothing yet with earlier
ones. `plan` plans all queries anew; that may take longer, and the engine is then changed a second time.
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
    """Return a plan of a checked workload that keeps the parts of the running plan in which a query is still wanted."""
    wanted = frozenset(workload.queries)
    kept = [_silenced(part, wanted) for part in parts_of(running) if speaking(part) & wanted]
    known = frozenset[Query]().union(*map(speaking, kept))
    new = tuple(query for query in workload.queries if query not in known)
    added = plan(Workload(new, workload.text), running.strategy, model)
    return joined(running.strategy, (*kept, *parts_of(added)))


def speaking(part: Plan) -> frozenset[Query]:
    """Return the queries of a plan that give rows."""
    return frozenset(one.query for one in part.queries if not one.silent)


def _silenced(part: Plan, wanted: Set[Query]) -> Plan:
    """Mark queries of a part that are no longer wanted as silent.

    A silent query stays silent, even if it is wanted again: its rows would miss the windows in between.
    """
    return replace(part, queries=tuple(_heard(one, wanted) for one in part.queries))


def _heard(one: QueryPlan, wanted: Set[Query]) -> QueryPlan:
    return one if one.silent or one.query in wanted else replace(one, silent=True)
