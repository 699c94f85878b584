"""Queries that share nothing: each of their counters has a graph of its own, by the method of its strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from elsinore.actors.a_seq.start_graph import StartGraph
from elsinore.actors.algebra.counters_numba_fns import Tables
from elsinore.actors.baselines.prefix_graph import PrefixGraph
from elsinore.actors.baselines.two_step_graph import Budget, TrendMovingGraph, TrendWindowGraph
from elsinore.actors.columns.classify import Classifier
from elsinore.actors.columns.intake import Growth, Intake, Taken
from elsinore.actors.columns.lanes import LaneColumns
from elsinore.actors.columns.links import LinkColumns
from elsinore.actors.lowering.entries import event_tables
from elsinore.actors.members import SetMember
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import Moments, MovingGraph, WindowGraph
from elsinore.actors.rows.cells import Cells
from elsinore.actors.set_graph import MemberCells, PartitionGroups, SetGraph
from elsinore.actors.windows.member_panes import pane_graph
from elsinore.planner.a_seq.forest import forest_of, sequence_of
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.windows import Windows


class CounterGraph(Protocol):
    """The graph of a single counter."""

    def admit(self, group_of: npt.NDArray[np.int32], groups: int) -> None: ...

    def extend(self, growth: Growth, tables: Tables) -> None: ...

    def process(self, taken: Taken, moments: Moments | None) -> Iterator[Cells]: ...

    def end_until(self, time: int) -> Iterator[Cells]: ...

    def finish(self) -> Iterator[Cells]: ...

    def keep(self, slots: npt.NDArray[np.int64], group_of: npt.NDArray[np.int32]) -> None: ...

    def save(self) -> dict[str, Any]: ...

    def load(self, state: dict[str, Any]) -> None: ...


class GraphsApart(SetGraph[Cells]):
    """The counters of one query that are in no share set; several only where its pattern has an AND."""

    def __init__(self, members: Sequence[SetMember], intakes: Sequence[Intake], clock: Clock, exact: bool) -> None:
        super().__init__(len(members))
        self.members = members
        self.graphs = [
            counter_graph(member, intake.links, clock, exact) for member, intake in zip(members, intakes, strict=True)
        ]
        self.merged_of = np.zeros(0, np.int32)
        self.ends = [member.ends for member in members]
        self.per_event = members[0].plan.per_event

    def admit(self, groups_of: Sequence[PartitionGroups]) -> None:
        self.merged_of = groups_of[0].merged_of
        for graph, groups in zip(self.graphs, groups_of, strict=True):
            graph.admit(groups.group_of, groups.groups)

    def extend(self, intake: int, growth: Growth) -> None:
        if growth.lanes or growth.floats:
            self.graphs[intake].extend(growth, self.members[intake].tables())

    def follow(self, growths: Sequence[Growth]) -> None:
        """Do nothing: every counter has an intake of its own."""

    def process(self, taken: Sequence[Taken], _: int) -> MemberCells:
        moments = self._moments(taken) if self.per_event else None
        return [
            list(graph.process(own, moments)) if len(own.events.time) or moments is not None else []
            for graph, own in zip(self.graphs, taken, strict=True)
        ]

    def _moments(self, taken: Sequence[Taken]) -> Moments:
        """Return, by group, the times at which an event in any of its partitions can end a trend."""
        ending = [(one.events, ends[one.events.kind]) for ends, one in zip(self.ends, taken, strict=True)]
        times = np.concatenate([events.time[ends] for events, ends in ending])
        groups = np.concatenate([self.merged_of[events.slot[ends]] for events, ends in ending])
        order = np.lexsort((times, groups))
        times, groups = times[order], groups[order]
        new = np.ones(len(times), np.bool_)
        new[1:] = (times[1:] != times[:-1]) | (groups[1:] != groups[:-1])
        at = np.searchsorted(groups[new], np.arange(int(self.merged_of.max(initial=-1)) + 2))
        return Moments(at, times[new], self.merged_of)

    def end_until(self, time: int) -> MemberCells:
        return [list(graph.end_until(time)) for graph in self.graphs]

    def finish(self) -> MemberCells:
        return [list(graph.finish()) for graph in self.graphs]

    def keep(self, slots: npt.NDArray[np.int64], groups_of: Sequence[PartitionGroups]) -> None:
        self.merged_of = groups_of[0].merged_of
        for graph, groups in zip(self.graphs, groups_of, strict=True):
            graph.keep(slots, groups.group_of)

    def save_member(self, member: int) -> dict[str, Any]:
        return self.graphs[member].save()

    def load_member(self, member: int, growth: Growth, state: dict[str, Any]) -> None:
        self.graphs[member].extend(growth, self.members[member].tables())
        self.graphs[member].load(state)


def member_apart(plan: QueryPlan, counter: Counter, exact: bool) -> tuple[SetMember, Intake]:
    """Return a counter that shares nothing, and the intake of its events."""
    name = plan.query.name
    columns = LaneColumns(counter.lanes, exact, name)
    links = LinkColumns.of(counter, plan.predicates, name) if counter.event_grained else None
    intake = Intake(Classifier(counter.machine, plan.predicates, name), columns, links)
    return SetMember(plan, counter, columns), intake


def counter_graph(member: SetMember, links: LinkColumns | None, clock: Clock, exact: bool) -> CounterGraph:
    """Return the graph of a counter that shares nothing."""
    plan, single = member.plan, None
    if plan.keeps_events(member.counter):
        single = event_tables(member.counter, plan.predicates, plan.method == "events")
    comparable, count = (links.comparable, len(plan.predicates.links)) if links else (_as_they_are, 0)
    by_window, moving = _keeping_events(plan, clock)
    if plan.per_event:
        return moving(single, clock.ticks(plan.query.within.length), comparable, member, count, exact)
    if single is not None:
        return by_window(single, Windows.of(plan.query, clock), comparable, member, count, exact)
    return pane_graph(member, clock, exact)


def _keeping_events(plan: QueryPlan, clock: Clock) -> tuple[Callable[..., WindowGraph], Callable[..., MovingGraph]]:
    """Return how to make a graph that keeps events: one of windows with panes, and one of windows that move."""
    if plan.method == "trends":
        budget = Budget(plan.query, clock)
        return partial(TrendWindowGraph, budget), partial(TrendMovingGraph, budget)
    if plan.method == "starts" and (steps := sequence_of(plan)):
        return WindowGraph, partial(StartGraph, forest_of((steps,), ((),)))
    if plan.method == "prefixes":
        return partial(PrefixGraph, plan, clock), MovingGraph
    return WindowGraph, MovingGraph


def _as_they_are(links: Links) -> Links:
    return links
