"""Execution of a share set: each event is read once for all queries, from the columns of a batch to their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.algebra.counters_numba_fns import Events, Tables
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.columns.lanes import LaneColumns
from elsinore.actors.counting import Batch, Counting
from elsinore.actors.hamlet.graph import HamletGraph
from elsinore.actors.lowering.machines import tables
from elsinore.actors.lowering.sets import Columns
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import Moments
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.pane_set import MemberGraph, SharedGraph
from elsinore.planner.hamlet.facts import facts_of
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.machines.lanes import Lane
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.model import Counter, Plan, QueryPlan
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.time.clock import Clock

Column = tuple[str, str | None, int | None]
"""Kind of lane, attribute and digit: identifies a column of values independently of the query that reads it."""

EACH_COUNTS_ONE = -1
"""In place of a column: every event counts one, as for COUNT of a variable."""


class SharedColumns:
    """The columns that queries of a share set add up or compare, each column once."""

    def __init__(self, plans: Sequence[tuple[QueryPlan, Counter]], exact: bool) -> None:
        lanes: dict[tuple[str, str | None], Lane] = {}
        asked: dict[Lane, str] = {}
        for plan, counter in plans:
            for lane in counter.lanes:
                if lane.attribute is not None and (lane.kind, lane.attribute) not in lanes:
                    lanes[lane.kind, lane.attribute] = lane
                    asked[lane] = plan.query.name
        self.columns = LaneColumns(tuple(lanes.values()), exact, plans[0][0].query.name, asked=asked)
        self.reads = {lane.attribute for lane in lanes.values() if lane.attribute}

    def sums(self) -> dict[Column, int]:
        return {(lane.kind, lane.attribute, digit): n for n, (lane, digit) in enumerate(self.columns.sums)}

    def minima(self) -> dict[Column, int]:
        return {(lane.kind, lane.attribute, None): n for n, lane in enumerate(self.columns.minima)}

    def learn(self, columns: Mapping[str, pa.Array]) -> bool:
        """Learn from the columns of a batch, and return whether lanes or types have changed."""
        types = dict(self.columns.types)
        return bool(self.columns.learn(columns)) or types != self.columns.types


class SharedCounting(Counting):
    """A counter whose share set takes in its events."""

    def __init__(self, shared: SharedColumns, plan: QueryPlan, counter: Counter, clock: Clock, exact: bool) -> None:
        self.shared = shared
        self.ready: list[Cells] = []
        super().__init__(plan, counter, clock, exact)

    def take(self, batch: Batch) -> tuple[Events, Links]:
        """Return no events: the share set has taken them in."""
        return NO_EVENTS, NO_LINKS

    def process(self, events: Events, links: Links, moments: Moments | None) -> Iterator[Cells]:
        """Yield the cells that the share set has found, and forget them."""
        ready, self.ready = self.ready, []
        yield from ready

    def follow(self) -> None:
        """Add the lanes that the shared columns have learned of."""
        whole = self.columns.whole_keys
        for at, count, column in self.columns.follow(self.shared.columns):
            self.graph.add_lanes(at, count, column, self._tables())
        for key in whole - self.columns.whole_keys:
            self.graph.change_keys(key, partial(self.columns.as_floats, key))
        # Columns of other members may come before its own now.
        self.graph.tables = self._tables()

    def layout(self) -> Columns:
        """Return the shared columns that the lanes of this counter add up and compare."""
        sums, minima = self.shared.sums(), self.shared.minima()
        columns = [sums.get((lane.kind, lane.attribute, digit), EACH_COUNTS_ONE) for lane, digit in self.columns.sums]
        return Columns(
            [(lane.variable, column) for (lane, _), column in zip(self.columns.sums, columns, strict=True)],
            [(lane.variable, minima[lane.kind, lane.attribute, None]) for lane in self.columns.minima],
        )

    def _tables_of(self, machine: Machine) -> Tables:
        own = self.layout()
        made = tables(machine, own.sums, [name for name, _ in own.minima])
        numbers = np.array([number for _, number in own.minima], np.int32)
        return made._replace(least_column=numbers[made.least_key])


class MemberCounting(SharedCounting):
    """A type-grained counter; the graph of its share set takes in its events."""

    pane_graph = MemberGraph
    graph: MemberGraph

    def __init__(self, shared: SharedColumns, plan: QueryPlan, counter: Counter, clock: Clock, exact: bool) -> None:
        super().__init__(shared, plan, counter, clock, exact)
        self.graph.of_and = len(plan.counters) > 1


class Shared:
    """The counters of a share set, and the graph that they share."""

    graph: SharedGraph

    def __init__(self, plan: Plan, share_set: ShareSet, clock: Clock, exact: bool) -> None:
        self.share_set = share_set
        queries = [plan.queries[member.query] for member in share_set.members]
        self.plans = [(query, query.counters[m.counter]) for query, m in zip(queries, share_set.members, strict=True)]
        self.shared = SharedColumns(self.plans, exact)
        self.kinds = EventKinds(self.plans, share_set.kleenes)
        self.countings = [MemberCounting(self.shared, query, counter, clock, exact) for query, counter in self.plans]
        self.names = [query.query.name for query in queries]
        self.changed = True
        """Whether the shared columns know something that the counters have not yet followed."""

    @property
    def members(self) -> dict[tuple[int, int], SharedCounting]:
        """Return the counters by query and counter number."""
        return {(m.query, m.counter): c for m, c in zip(self.share_set.members, self.countings, strict=True)}

    def process(self, batch: Batch) -> None:
        """Take in a batch; each counter keeps the cells that become due, in `ready`."""
        found = self.graph.process(self._take(batch), batch.later)
        for counting, cells in zip(self.countings, found, strict=True):
            counting.ready += cells

    def _take(self, batch: Batch) -> Events:
        columns, slots, times, kinds = taken(batch, self.kinds.of(batch.types, batch.columns), self.shared.reads)
        if self.shared.learn(columns) or self.changed:
            # Bursts that wait have the columns as they were before.
            self.graph.flush()
            self._follow()
        values, keys = self.shared.columns.values(columns, len(times)), self.shared.columns.keys(columns, len(times))
        return Events(slots, times, kinds, values, keys)

    def _follow(self) -> None:
        for counting in self.countings:
            counting.follow()
        self.graph.know([counting.layout() for counting in self.countings])
        self.changed = False

    def keep(self, slots: Any) -> None:
        self.graph.keep(slots)

    def save(self) -> dict[str, Any]:
        """Return what the shared columns have learned; take in bursts that wait, so that the counters save them."""
        self.graph.flush()
        return self.shared.columns.save()

    def load(self, state: dict[str, Any]) -> None:
        """Load what the shared columns have learned; the counters load their own state."""
        self.shared.columns.load(state)
        self.changed = True


class Sharing(Shared):
    """A share set of Kleene sub-patterns, and its HAMLET graph."""

    graph: HamletGraph

    def __init__(
        self,
        plan: Plan,
        share_set: ShareSet,
        clock: Clock,
        exact: bool,
        optimizer: SharingOptimizer,
        recorded: bool,
        graph: type[HamletGraph] = HamletGraph,
    ) -> None:
        super().__init__(plan, share_set, clock, exact)
        self.graph = graph(
            share_set,
            [counting.graph for counting in self.countings],
            self.kinds,
            [facts_of(kleene, self.plans) for kleene in share_set.kleenes],
            optimizer,
            exact,
            recorded,
        )


def taken(
    batch: Batch, kinds: npt.NDArray[np.int32], reads: Iterable[str]
) -> tuple[Mapping[str, pa.Array], npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the columns, partitions, times and kinds of the events that some member takes."""
    wanted = (batch.slots >= 0) & (kinds > 0)
    if wanted.all():
        return batch.columns, batch.slots, batch.times, kinds
    rows = np.flatnonzero(wanted)
    indices = pa.array(rows)
    columns = {name: batch.columns[name].take(indices) for name in reads}
    return columns, batch.slots[rows], batch.times[rows], kinds[rows]


NO_EVENTS = Events(
    np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int16), np.zeros((0, 0)), np.zeros((0, 0), np.int64)
)
NO_LINKS = Links(
    np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.bool_), np.zeros((0, 0), np.bool_)
)
