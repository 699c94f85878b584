"""How share sets of each kind are executed: one row for each row of `elsinore.planner.plans.kinds`, by its tag."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from elsinore.actors.a_seq.forest_graph import ForestGraph
from elsinore.actors.apart import GraphsApart, member_apart
from elsinore.actors.baselines.prefix_tree_graph import PrefixTreeGraph
from elsinore.actors.columns.intake import Intake
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.columns.links import LinkColumns
from elsinore.actors.gloria.graph import PlanGraph
from elsinore.actors.hamlet.graph import HamletGraph
from elsinore.actors.members import SetMember, members_of_set
from elsinore.actors.moving.graph import MovingShareGraph
from elsinore.actors.neighbours.set_graph import LinkedGraph, links_of
from elsinore.actors.query_rows import AggregateRows, QueryRows
from elsinore.actors.set_graph import SetGraph
from elsinore.actors.set_run import SetRun
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.plans.kinds import FOREST, HAMLET, LINKED, MOVING_WINDOWS, PLANNED, PREFIX, kind_of
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.sharing import LinkedSet, Member, MovingSet, ShareSet
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class Setting:
    """The settings that all sets of an engine have in common."""

    clock: Clock
    exact: bool
    optimizer: SharingOptimizer
    recorded: bool
    hamlet_graph: type[HamletGraph] = HamletGraph


Made = tuple[SetGraph[Any], LinkColumns | None]
"""The graph of a set, and the columns of predicates on neighbours that it reads."""


@dataclass(frozen=True)
class Execution:
    """How sets of one kind are executed."""

    graph: Callable[..., Made]
    """Make the graph of a set, of: the set, its members, their kinds of events, and the setting."""
    rows: type[QueryRows[Any]] = AggregateRows
    """How results of members become rows of their queries."""


def _hamlet(one: ShareSet, members: Sequence[SetMember], kinds: EventKinds, setting: Setting) -> Made:
    graph = setting.hamlet_graph
    return graph(one, members, kinds, setting.clock, setting.exact, setting.optimizer, setting.recorded), None


def _linked(one: LinkedSet, members: Sequence[SetMember], kinds: EventKinds, setting: Setting) -> Made:
    links = links_of(one, members, kinds)
    return LinkedGraph(one, members, kinds, links, setting.clock, setting.exact), links


def _moving(one: MovingSet, members: Sequence[SetMember], kinds: EventKinds, setting: Setting) -> Made:
    return MovingShareGraph(one, members, kinds, setting.clock, setting.exact), None


def _planned(one: PlannedSet, members: Sequence[SetMember], kinds: EventKinds, setting: Setting) -> Made:
    return PlanGraph(one, members, kinds, setting.clock, setting.exact), None


def _forest(one: ForestSet, members: Sequence[SetMember], kinds: EventKinds, setting: Setting) -> Made:
    return ForestGraph(one, members, kinds, setting.clock, setting.exact), None


def _prefix(_: PrefixSet, members: Sequence[SetMember], kinds: EventKinds, setting: Setting) -> Made:
    return PrefixTreeGraph(members, kinds, setting.clock, setting.exact), None


EXECUTIONS: dict[str, Execution] = {
    HAMLET.tag: Execution(_hamlet),
    LINKED.tag: Execution(_linked),
    MOVING_WINDOWS.tag: Execution(_moving),
    PLANNED.tag: Execution(_planned),
    FOREST.tag: Execution(_forest),
    PREFIX.tag: Execution(_prefix),
}

APART = "apart"
"""The kind of run of a query that shares nothing."""


def rows_of(kind: str, plan: QueryPlan, members: Sequence[SetMember], partitions: Partitions) -> QueryRows[Any]:
    """Return what makes the rows of a query whose counters are in runs of this kind."""
    made = EXECUTIONS[kind].rows if kind in EXECUTIONS else AggregateRows
    return made(plan, members, partitions)


def run_of_set(plan: Plan, share_set: ShareSet, setting: Setting) -> SetRun[Any]:
    """Return the run of a share set."""
    kind = kind_of(share_set).tag
    queries = [plan.queries[member.query] for member in share_set.members]
    counted = [(query, query.counters[m.counter]) for query, m in zip(queries, share_set.members, strict=True)]
    members = members_of_set(counted, setting.exact)
    kinds = EventKinds(counted, share_set.kleenes)
    graph, links = EXECUTIONS[kind].graph(share_set, members, kinds, setting)
    columns = members[0].shared
    assert columns is not None
    return SetRun(kind, share_set.members, members, [Intake(kinds, columns, links)], graph, kinds)


def run_apart(plan: Plan, places: Sequence[Member], setting: Setting) -> SetRun[Any]:
    """Return the run of counters of one query that are in no share set."""
    query = plan.queries[places[0].query]
    made = [member_apart(query, query.counters[place.counter], setting.exact) for place in places]
    members, intakes = [member for member, _ in made], [intake for _, intake in made]
    return SetRun(APART, places, members, intakes, GraphsApart(members, intakes, setting.clock, setting.exact))
