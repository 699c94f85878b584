"""Choose, for each group of queries that could share, the cheapest way to run it.

The options are HAMLET's share sets, GLORIA's planned sets, some of both, and every query apart. All are priced by one
cost model of this engine. In a planned set bursts are still decided about while events flow, as in HAMLET's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import inf

from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.costs.plan_model import cost_of
from elsinore.planner.costs.workload_costs import WorkloadCosts
from elsinore.planner.gloria.costs.cost import CostModel, PaperCost
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.optimizers import GloriaOptimizer
from elsinore.planner.language.syntax import Kleene, nodes
from elsinore.planner.plans.kinds import KLEENES, PLANNED, Search, find_sets, kind_of
from elsinore.planner.plans.model import Choice, Option, Panes, Plan, QueryPlan
from elsinore.planner.plans.parts import in_order, joined, renumbered, split_by
from elsinore.planner.plans.sharing import Member, ShareSet

Sets = tuple[ShareSet, ...]

APART, HAMLET, GLORIA, BOTH = "every query apart", "HAMLET", "GLORIA", "GLORIA and HAMLET"
DEARER = "to run it apart costs less than to share"

MARGIN = 0.03
"""Fraction by which other options must cost less than HAMLET: it sees real bursts, others rely on expected ones.

A sharing plan must also cost so much less than the one by the paper's cost model.
"""


FEW_EVENTS, MANY_EVENTS = 32.0, 128.0
"""Events of a partition in a pane: with up to so few, rows of counters cost less than maps of panes even where many
windows overlap; with at least so many, maps cost less."""

SEARCH_NANOSECONDS = 3e6
"""What a query adds to the time of a search for sharing plans."""

SEARCH_PART = 16
"""A search may cost one in so many parts of the work that is to be done."""


def chosen_for(plan: Plan, model: CostModel, events: float = inf) -> Plan:
    """Choose the share sets of a plan of `auto` anew, by what is now known of the stream, which has so many events."""
    parts = split_by(plan, lambda query: query.detects)
    chosen = [one if one.queries[0].query.detects else _chosen(one, model, events) for one in parts]
    if len(chosen) == 1:
        return chosen[0]
    return in_order(joined(plan.strategy, chosen), [one.query.name for one in plan.queries])


def _chosen(plan: Plan, model: CostModel, events: float) -> Plan:
    costs = WorkloadCosts.of(plan.queries, model)
    for searching in (False, True):
        share_sets, reasons, choices = best_of_all(plan.queries, model, searching=searching)
        plan = replace(plan, share_sets=share_sets, reasons=reasons, choices=choices)
        work = cost_of(dict(enumerate(plan.queries)), share_sets, costs) * costs.windows(events)
        if work < SEARCH_PART * SEARCH_NANOSECONDS * len(plan.queries):
            break
    return plan


def seeing_panes(plan: Plan, model: CostModel) -> Plan:
    """Return a plan that keeps windows by what is now known of the stream."""
    costs = WorkloadCosts.of(plan.queries, model)
    return replace(plan, queries=tuple(replace(one, panes=_panes(one, costs)) for one in plan.queries))


def _panes(query: QueryPlan, costs: WorkloadCosts) -> Panes:
    """Return how many events of a query a partition has in a pane."""
    if query.query.slide is None:
        return "unknown"
    events = costs.events_of(query.query.types) * costs.part_of_window(query.pane)
    return "few" if events <= FEW_EVENTS else "many" if events >= MANY_EVENTS else "unknown"


@dataclass(frozen=True)
class _Group:
    """Queries, by number, that some share set or planned set connects."""

    numbers: tuple[int, ...]
    shared: Sets
    planned: Sets

    @property
    def sets(self) -> Sets:
        return (*self.shared, *self.planned)

    @property
    def priced(self) -> bool:
        """Return whether the group has a choice. Sets of kinds without a price always share."""
        return any(kind_of(one).price for one in self.sets)


def best_of_all(
    queries: tuple[QueryPlan, ...],
    model: CostModel | None = None,
    optimizer: GloriaOptimizer | None = None,
    searching: bool = True,
) -> tuple[Sets, tuple[tuple[str, str], ...], tuple[Choice, ...]]:
    """Return the share sets, the reason for each query in none of them (by name), and the choices made.

    Sharing plans are an option only if it is `searching` for them.
    """
    costs = WorkloadCosts.of(queries, model)
    hamlet, unshared = find_sets(KLEENES, queries)
    gloria, unplanned = _planned(queries, costs, model, optimizer or "gloria") if searching else ((), unshared)
    reasons = {name: _reason(query, dict(unshared), dict(unplanned)) for query in queries if (name := query.query.name)}
    found: list[ShareSet] = []
    choices = []
    for group in _groups(hamlet, gloria):
        if not group.priced:
            found += group.sets
            continue
        sets, choice = _Chooser(queries, costs, group).choose()
        found += sets
        choices.append(choice)
    inside = {member.query for one in found for member in one.members}
    apart = (query.query.name for number, query in enumerate(queries) if number not in inside)
    return tuple(found), tuple((name, reasons[name]) for name in apart), tuple(choices)


def _planned(
    queries: tuple[QueryPlan, ...], costs: WorkloadCosts, model: CostModel | None, optimizer: str | GloriaOptimizer
) -> tuple[Sets, tuple[tuple[str, str], ...]]:
    """Return, by template, the cheapest of the plans found with the paper's cost model and with this engine's.

    Both are tried, because during a search less is known of a plan's cost here than once it is found. Return also the
    reasons of queries without a plan.
    """
    models = (PaperCost(costs.statistics), costs.gloria) if model is None or isinstance(model, EngineCost) else (model,)
    best: dict[frozenset[Member], tuple[float, ShareSet]] = {}
    reasons: dict[str, str] = {}
    for one in models:
        found, unplanned = find_sets((PLANNED,), queries, Search(optimizer, one))
        reasons |= dict(unplanned)
        for made in (decided(share_set, costs.costs) for share_set in found):
            cost = cost_of({member.query: queries[member.query] for member in made.members}, [made], costs)
            members = frozenset(made.members)
            if members not in best or cost < best[members][0] * (1 - MARGIN):
                best[members] = cost, made
    return tuple(made for _, made in best.values()), tuple(reasons.items())


def decided(one: ShareSet, costs: PlanCosts) -> ShareSet:
    """Give a planned set HAMLET's decisions about bursts; return other sets unchanged."""
    found: ShareSet = kind_of(one).decided(one, costs)
    return found


def _reason(query: QueryPlan, unshared: dict[str, str], unplanned: dict[str, str]) -> str:
    """Return why a query runs apart: HAMLET's reason where its pattern has Kleene, else GLORIA's.

    A query that either of them could share runs apart because that costs less.
    """
    name = query.query.name
    if name not in unshared or name not in unplanned:
        return DEARER
    return (unshared if any(isinstance(node, Kleene) for node in nodes(query.query.pattern)) else unplanned)[name]


def _groups(hamlet: Sets, gloria: Sets) -> Iterator[_Group]:
    """Yield the groups, in the order of their first queries."""
    together: dict[int, int] = {}
    for one in (*hamlet, *gloria):
        linked = {together.setdefault(member.query, member.query) for member in one.members}
        together = {number: min(linked) if first in linked else first for number, first in together.items()}
    for group in sorted({*together.values()}):
        numbers = tuple(sorted(number for number, first in together.items() if first == group))
        yield _Group(numbers, _inside(numbers, hamlet), _inside(numbers, gloria))


def _inside(numbers: tuple[int, ...], sets: Sets) -> Sets:
    return tuple(one for one in sets if one.members[0].query in numbers)


class _Chooser:
    """The options of one group with their prices, and the choice among them."""

    def __init__(self, queries: tuple[QueryPlan, ...], costs: WorkloadCosts, group: _Group) -> None:
        self._queries, self._costs, self._group = queries, costs, group
        self._priced: list[tuple[Option, Sets]] = []

    def choose(self) -> tuple[Sets, Choice]:
        every = self._group.planned
        if shared := self._hamlet(()):
            self._look(HAMLET, shared)
        if every:
            self._look(GLORIA, every)
            self._look_at_some(every)
        self._look(APART, ())
        (chosen, sets), *others = sorted(self._priced, key=lambda one: _worth(one[0]))
        names = tuple(self._queries[number].query.name for number in self._group.numbers)
        return sets, Choice(names, chosen, tuple(option for option, _ in others))

    def _look_at_some(self, every: Sets) -> None:
        """Price planned sets beside share sets: each planned set in turn is left to HAMLET if that costs less."""
        taken = every
        best = self._cost((*taken, *self._hamlet(taken)))
        for one in every:
            fewer = tuple(other for other in taken if other is not one)
            cost = self._cost((*fewer, *self._hamlet(fewer)))
            if cost < best:
                taken, best = fewer, cost
        rest = self._hamlet(taken)
        if taken and rest:
            self._look(BOTH, (*taken, *rest))

    def _hamlet(self, planned: Sets) -> Sets:
        """Return HAMLET's share sets of the queries of the group that are in no planned set."""
        inside = {member.query for one in planned for member in one.members}
        numbers = [number for number in self._group.numbers if number not in inside]
        found, _ = find_sets(KLEENES, tuple(self._queries[number] for number in numbers))
        return tuple(renumbered(one, dict(zip(count(), numbers, strict=False))) for one in found)

    def _look(self, name: str, sets: Sets) -> None:
        if not any(sets == other for _, other in self._priced):
            self._priced.append((Option(name, self._cost(sets)), sets))

    def _cost(self, sets: Sets) -> float:
        return cost_of({number: self._queries[number] for number in self._group.numbers}, sets, self._costs)


def _worth(option: Option) -> float:
    return option.cost * (1 - MARGIN if option.name == HAMLET else 1)
