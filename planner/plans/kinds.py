"""The kinds of share sets: one row for each in one table.

A row says how sets of the kind are found, what they need of a query and refuse by name, how they are priced and
explained, and their tag in saved states. How they are executed is in `elsinore.actors.kinds`, by the same tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from elsinore.planner.a_seq.explain import explain_forest_set
from elsinore.planner.a_seq.sets import ALONE, FOREST_NEEDS, ForestSet, forest_sets
from elsinore.planner.baselines.explain import explain_prefix_set
from elsinore.planner.baselines.sets import PREFIX_NEEDS, PrefixSet, prefix_sets
from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.costs.workload_costs import Counted, WorkloadCosts
from elsinore.planner.detection.sets import DetectionSet, detection_sets, explain_detection_set
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.explain import explain_planned_set
from elsinore.planner.gloria.optimizers import GloriaOptimizer
from elsinore.planner.gloria.price import price_of_planned_set
from elsinore.planner.gloria.sets import (
    MACHINE_NEEDS,
    PlannedSet,
    planned_sets,
    planned_work,
    renumbered_plan,
    with_burst_costs,
    without_graph,
)
from elsinore.planner.gloria.templates.members import TEMPLATE_NEEDS
from elsinore.planner.hamlet.explain import explain_linked_set, explain_moving_set, explain_share_set
from elsinore.planner.hamlet.forms import MOVING, NEIGHBOURS, PANES
from elsinore.planner.hamlet.pricing import price_of_share_set
from elsinore.planner.hamlet.share_sets import Form, kleene_sets
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.needs import Need
from elsinore.planner.plans.sharing import Found, LinkedSet, Member, MovingSet, ShareSet

S = TypeVar("S", bound=ShareSet)


@dataclass(frozen=True)
class Search:
    """The parameters of a search for share sets; only searches for sharing plans read them."""

    optimizer: str | GloriaOptimizer = "gloria"
    model: CostModel | None = None


ANY_SEARCH = Search()


def _with_members(share_set: S, members: tuple[Member, ...]) -> S:
    return replace(share_set, members=members)


def _same(share_set: S, *_: object) -> S:
    return share_set


@dataclass(frozen=True)
class SetKind(Generic[S]):
    """A kind of share set."""

    tag: str
    """Its name in saved states, which never changes."""
    made: type[S]
    """The class of its sets."""
    find: Callable[[tuple[QueryPlan, ...], Search], Found]
    """Return the sets of this kind among some queries, and why queries are in none as far as this kind can say."""
    needs: tuple[Need, ...]
    """What each counter needs to be in a set, whatever the other queries are."""
    graph: str
    """What the queries of a set have in common, in `explain`."""
    explain: Callable[[Plan, S], Iterable[str]]
    price: Callable[[S, Counted, WorkloadCosts], float] | None = None
    """The cost in nanoseconds for the events of the longest window; without one, `auto` has no choice but to share."""
    renumbered: Callable[[S, tuple[Member, ...]], S] = _with_members
    """Return a set with other numbers for its queries."""
    decided: Callable[[S, PlanCosts], S] = _same
    """Return a set that decides by these costs, burst by burst, about what it decides without an optimizer."""
    work: Callable[[S], object] = _same
    """Return all that execution depends on; sets are executed alike where it is equal."""
    saved: Callable[[S], S] = _same
    """Return a set without what execution does not read."""

    def among(self, share_sets: Iterable[ShareSet]) -> tuple[S, ...]:
        """Return those of some sets that are of this kind."""
        return tuple(one for one in share_sets if kind_of(one) is self)  # type: ignore[misc]


def _kleene(form: Form) -> Callable[[tuple[QueryPlan, ...], Search], Found]:
    return lambda queries, _: kleene_sets(form, queries)


def _planned(queries: tuple[QueryPlan, ...], search: Search) -> Found:
    return planned_sets(queries, search.optimizer, search.model)


def _forests(queries: tuple[QueryPlan, ...], search: Search) -> Found:
    """Return forests for A-Seq's own optimizers; others know nothing of windows that move."""
    return forest_sets(queries, search.optimizer) if search.optimizer in ALONE else ((), ())


def _prefixes(queries: tuple[QueryPlan, ...], _: Search) -> Found:
    return prefix_sets(queries)


def _detected(queries: tuple[QueryPlan, ...], search: Search) -> Found:
    return detection_sets(queries, search.optimizer if isinstance(search.optimizer, str) else "auto"), ()


HAMLET: SetKind[ShareSet] = SetKind(
    tag="share_set",
    made=ShareSet,
    find=_kleene(PANES),
    needs=PANES.needs,
    graph="HAMLET graph",
    explain=explain_share_set,
    price=price_of_share_set,
)
LINKED: SetKind[LinkedSet] = SetKind(
    tag="linked_set",
    made=LinkedSet,
    find=_kleene(NEIGHBOURS),
    needs=NEIGHBOURS.needs,
    graph="event-grained graph",
    explain=explain_linked_set,
)
MOVING_WINDOWS: SetKind[MovingSet] = SetKind(
    tag="moving_set",
    made=MovingSet,
    find=_kleene(MOVING),
    needs=MOVING.needs,
    graph="graph of moving windows",
    explain=explain_moving_set,
)
PLANNED: SetKind[PlannedSet] = SetKind(
    tag="planned_set",
    made=PlannedSet,
    find=_planned,
    needs=(*TEMPLATE_NEEDS, *MACHINE_NEEDS),
    graph="planned graph",
    explain=explain_planned_set,
    price=price_of_planned_set,
    renumbered=renumbered_plan,
    decided=with_burst_costs,
    work=planned_work,
    saved=without_graph,
)
FOREST: SetKind[ForestSet] = SetKind(
    tag="forest_set",
    made=ForestSet,
    find=_forests,
    needs=FOREST_NEEDS,
    graph="forest of prefix counters",
    explain=explain_forest_set,
)
PREFIX: SetKind[PrefixSet] = SetKind(
    tag="prefix_set",
    made=PrefixSet,
    find=_prefixes,
    needs=PREFIX_NEEDS,
    graph="prefix tree",
    explain=explain_prefix_set,
)

DETECTION: SetKind[DetectionSet] = SetKind(
    tag="detection_set",
    made=DetectionSet,
    find=_detected,
    needs=(),
    graph="window of events",
    explain=explain_detection_set,
)

KINDS: tuple[SetKind[Any], ...] = (HAMLET, LINKED, MOVING_WINDOWS, PLANNED, FOREST, PREFIX, DETECTION)
"""In the order in which a plan has its sets."""

KLEENES = (HAMLET, LINKED, MOVING_WINDOWS)
"""The kinds whose queries share Kleene sub-patterns, burst by burst."""

BY_STRATEGY: dict[str, tuple[SetKind[Any], ...]] = {
    "hamlet": KLEENES,
    "hamlet-static": KLEENES,
    "gloria": (PLANNED,),
    "gloria-greedy": (PLANNED,),
    "gloria-noprune": (PLANNED,),
    "prefix": (FOREST, PLANNED),
    "chop-connect": (FOREST, PLANNED),
    "sharon": (PREFIX,),
}
"""By strategy, the kinds that it looks for; where several refuse a query, the reason of the first is told."""

_BY_CLASS = {kind.made: kind for kind in KINDS}


def kind_of(share_set: ShareSet) -> SetKind[Any]:
    """Return the row of the table for a set."""
    return _BY_CLASS[type(share_set)]


def find_sets(kinds: Sequence[SetKind[Any]], queries: tuple[QueryPlan, ...], search: Search = ANY_SEARCH) -> Found:
    """Return the sets of some kinds, and the name and reason of each query that is in none."""
    sets: list[ShareSet] = []
    reasons: dict[str, str] = {}
    for kind in kinds:
        found, apart = kind.find(queries, search)
        sets += found
        reasons = dict(apart) | reasons
    sets.sort(key=lambda one: KINDS.index(kind_of(one)))
    inside = {member.query for one in sets for member in one.members}
    names = (query.query.name for number, query in enumerate(queries) if number not in inside)
    return tuple(sets), tuple((name, reasons[name]) for name in names if name in reasons)
