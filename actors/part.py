"""Execution of a part of a plan: queries that share, or one that runs apart, over the windows that they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.baselines.prefix_sharing import PrefixSharing
from elsinore.actors.counting import Batch, Counting
from elsinore.actors.gloria.sharing import PlanSharing
from elsinore.actors.hamlet.graph import HamletGraph
from elsinore.actors.moving.sharing import MovingSharing
from elsinore.actors.neighbours.set_sharing import LinkedSharing
from elsinore.actors.plan_state import save_plan
from elsinore.actors.query_graph import QueryGraph
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.sharing import Shared, SharedCounting, Sharing
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END
from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.language.syntax import Query
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.parts import run_alike
from elsinore.planner.plans.sharing import LinkedSet, MovingSet, ShareSet
from elsinore.planner.time.clock import Clock

AnySharing = Shared | LinkedSharing | MovingSharing | PrefixSharing


@dataclass(frozen=True)
class Setting:
    """The settings that all parts of an engine have in common."""

    clock: Clock
    exact: bool
    optimizer: SharingOptimizer
    recorded: bool
    hamlet_graph: type[HamletGraph]

    def sharing(self, plan: Plan, share_set: ShareSet) -> AnySharing:
        if isinstance(share_set, LinkedSet):
            return LinkedSharing(plan, share_set, self.clock, self.exact)
        if isinstance(share_set, MovingSet | ForestSet):
            return MovingSharing(plan, share_set, self.clock, self.exact)
        if isinstance(share_set, PlannedSet):
            return PlanSharing(plan, share_set, self.clock, self.exact)
        if isinstance(share_set, PrefixSet):
            return PrefixSharing(plan, share_set, self.clock, self.exact)
        return Sharing(plan, share_set, self.clock, self.exact, self.optimizer, self.recorded, self.hamlet_graph)


class Part:
    """A part of a plan, for the windows that begin at `since` or later and, after `stop`, before `until`."""

    def __init__(self, plan: Plan, partitions: Partitions, since: int, setting: Setting) -> None:
        self.plan = plan
        self.partitions = partitions
        self.since = since
        self.until = END
        self.first = min(_first(query, since, setting.clock) for query in plan.queries)
        """The time in ticks from which on the part needs events."""
        self.end = END
        """The time in ticks at which the last of its windows is over."""
        self._clock = setting.clock
        self.sharings = [setting.sharing(plan, share_set) for share_set in plan.share_sets]
        shared: dict[tuple[int, int], SharedCounting] = {}
        for sharing in self.sharings:
            shared |= sharing.members
        self.graphs = [
            QueryGraph(
                query,
                partitions,
                [
                    shared.get((q, c)) or Counting(query, counter, setting.clock, setting.exact)
                    for c, counter in enumerate(query.counters)
                ],
            )
            for q, query in enumerate(plan.queries)
        ]
        self.admit()

    def goes_on_as(self, other: Plan) -> bool:
        """Return whether this part can continue as a part of a new plan. Silent queries have to stay silent there."""
        heard = all(after.silent for now, after in zip(self.plan.queries, other.queries, strict=False) if now.silent)
        return self.until == END and heard and run_alike(self.plan, other)

    def stop(self, until: int) -> None:
        """Leave the windows that begin at `until` or later to other parts."""
        if self.until == END:
            self.until = until
            self.end = max(_over(query, until, self._clock) for query in self.plan.queries)

    def silence(self, wanted: Set[Query]) -> None:
        """Make all queries silent but these: they have no more rows."""
        queries = (replace(one, silent=one.silent or one.query not in wanted) for one in self.plan.queries)
        self.plan = replace(self.plan, queries=tuple(queries))

    def over(self, time: int) -> bool:
        """Return whether there will be no more rows, given that no event older than `time` will come."""
        empty = self.until <= self.since or all(query.silent for query in self.plan.queries)
        return empty or self.end <= time

    def admit(self) -> None:
        """Make room for new partitions."""
        for graph in self.graphs:
            graph.admit()

    def process(self, batch: Batch) -> list[PartialRows]:
        self.admit()
        batch = batch.between(self.first, self.end)
        if not len(batch.times):
            return []
        for sharing in self.sharings:
            sharing.process(batch)
        return self._rows(lambda graph: graph.process(batch) + graph.settle(int(batch.times[-1])))

    def settle(self, time: int) -> list[PartialRows]:
        """Return the rows of windows that end no later than `time`; no event older than that will come."""
        return self._rows(lambda graph: graph.settle(time))

    def finish(self) -> list[PartialRows]:
        return self._rows(QueryGraph.finish)

    def _rows(self, step: Callable[[QueryGraph], list[PartialRows]]) -> list[PartialRows]:
        """Return the rows that `step` finds, without silent queries and without windows of other parts."""
        found = [(query, step(graph)) for query, graph in zip(self.plan.queries, self.graphs, strict=True)]
        own = (rows.begun(self.since, self.until) for query, some in found if not query.silent for rows in some)
        return [rows for rows in own if len(rows)]

    def keep(self, kept: npt.NDArray[np.int64]) -> None:
        """Keep these partitions alone, in this order."""
        for sharing in self.sharings:
            if isinstance(sharing, Shared):
                sharing.graph.flush()
        for graph in self.graphs:
            graph.keep(kept)
        for sharing in self.sharings:
            sharing.keep(kept)

    def types(self) -> dict[str, pa.DataType]:
        """Return the types of attributes, as far as they are known."""
        found: dict[str, pa.DataType] = {}
        for graph in self.graphs:
            for counting in graph.countings:
                found |= counting.columns.types
        return found

    def know(self, types: Mapping[str, pa.DataType]) -> None:
        """Adopt types that are known of attributes: where some values were floats, integers count as floats."""
        columns = [counting.columns for graph in self.graphs for counting in graph.countings]
        for one in (*columns, *(sharing.shared.columns for sharing in self.sharings)):
            read = {lane.attribute for lane in one.lanes}
            one.types |= {name: kind for name, kind in types.items() if name in read}

    def save(self) -> dict[str, Any]:
        return {
            "plan": save_plan(self.plan),
            "since": self.since,
            "until": self.until,
            "sharings": [sharing.save() for sharing in self.sharings],
            "graphs": [graph.save() for graph in self.graphs],
        }

    def load(self, state: dict[str, Any]) -> None:
        if state["until"] != END:
            self.stop(state["until"])
        for sharing, saved in zip(self.sharings, state["sharings"], strict=True):
            sharing.load(saved)
        for graph, saved in zip(self.graphs, state["graphs"], strict=True):
            graph.load(saved)


def _first(plan: QueryPlan, since: int, clock: Clock) -> int:
    """Return the time at which the first window begins that begins no earlier than `since`."""
    if plan.query.slide is None:
        return since
    slide = clock.ticks(plan.query.slide.length)
    return -(-since // slide) * slide


def _over(plan: QueryPlan, until: int, clock: Clock) -> int:
    """Return when the last window that begins before `until` is over. One that moves is `(t - within, t]`."""
    within = clock.ticks(plan.query.within.length)
    if plan.query.slide is None:
        return until + within
    slide = clock.ticks(plan.query.slide.length)
    return (until - 1) // slide * slide + within
