"""Execution of one counter of a query: from the columns of a batch to cells of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.a_seq.start_graph import StartGraph
from elsinore.actors.algebra.counters_numba_fns import Events, Shape, Tables
from elsinore.actors.baselines.prefix_graph import PrefixGraph
from elsinore.actors.baselines.two_step_graph import Budget, TrendMovingGraph, TrendWindowGraph
from elsinore.actors.columns.classify import Classifier, Kinds
from elsinore.actors.columns.lanes import LaneColumns
from elsinore.actors.columns.links import LinkColumns
from elsinore.actors.lowering.entries import event_tables
from elsinore.actors.lowering.machines import tables
from elsinore.actors.lowering.sets import Columns
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import Moments, MovingGraph, WindowGraph
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.panes import PaneGraph, WindowMethod
from elsinore.actors.windows.window_maps import WindowMaps
from elsinore.actors.windows.window_rows import WindowRows
from elsinore.planner.a_seq.forest import forest_of, sequence_of
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.windows import Windows


@dataclass(frozen=True)
class Batch:
    """Events sorted by time, with the partition of each (-1: none); no later event is older than `later`."""

    types: pa.DictionaryArray
    times: npt.NDArray[np.int64]
    columns: Mapping[str, pa.Array]
    slots: npt.NDArray[np.int32]
    later: int

    def between(self, first: int, end: int) -> Batch:
        """Return the events from the time `first` on and before the time `end`."""
        lo, hi = (int(np.searchsorted(self.times, time)) for time in (first, end))
        if hi - lo == len(self.times):
            return self
        columns = {name: column.slice(lo, hi - lo) for name, column in self.columns.items()}
        return Batch(self.types.slice(lo, hi - lo), self.times[lo:hi], columns, self.slots[lo:hi], self.later)


class Counting:
    """A counter: its graph, and the columns that the graph reads."""

    pane_graph: type[PaneGraph] = PaneGraph

    def __init__(self, plan: QueryPlan, counter: Counter, clock: Clock, exact: bool) -> None:
        self.counter = counter
        self.exact = exact
        self.takes_all = counter.machine.semantics == "contiguous"
        self.classifier = Classifier(counter.machine, plan.predicates, plan.query.name)
        self.columns = LaneColumns(counter.lanes, exact, plan.query.name)
        self.links = LinkColumns.of(counter, plan.predicates, plan.query.name) if counter.event_grained else None
        self.ends = np.array(counter.machine.ends, np.bool_)
        self.graph = self._graph(plan, clock)

    def _graph(self, plan: QueryPlan, clock: Clock) -> PaneGraph | WindowGraph | MovingGraph:
        lanes, keys = 1 + len(self.columns.sums), len(self.columns.minima)
        single = None
        if plan.keeps_events(self.counter):
            single = event_tables(self.counter, plan.predicates, plan.method == "events")
        compare = self.links.comparable if self.links else _as_they_are
        links = len(plan.predicates.links) if self.links else 0
        common = (self.counter, self._tables(), lanes, keys, links, self.columns.width, self.exact)
        window_graph, moving_graph = self._buffered(plan, clock)
        if plan.per_event:
            return moving_graph(single, clock.ticks(plan.query.within.length), compare, *common)
        windows = Windows.of(plan.query, clock)
        if single is not None:
            return window_graph(single, windows, compare, *common)
        states, starts = len(self.counter.machine.states), len(self.counter.machine.starts)
        method: WindowMethod = WindowRows(windows)
        if plan.window_method(self.counter) == "pane maps":
            method = WindowMaps(windows, Shape(starts, states, lanes, keys, 1 if self.exact else 2), self.exact)
        return self.pane_graph(self._tables(), states, lanes, keys, windows, method, self.exact)

    def _buffered(self, plan: QueryPlan, clock: Clock) -> tuple[Callable[..., WindowGraph], Callable[..., MovingGraph]]:
        """Return how to make a graph that keeps events: one of windows with panes, and one of windows that move."""
        if plan.method == "trends":
            budget = Budget(plan.query, clock)
            return partial(TrendWindowGraph, budget), partial(TrendMovingGraph, budget)
        if plan.method == "starts" and (steps := sequence_of(plan)):
            return WindowGraph, partial(StartGraph, forest_of((steps,), ((),)), self.layout)
        if plan.method == "prefixes":
            return partial(PrefixGraph, plan, clock, self._tables_of), MovingGraph
        return WindowGraph, MovingGraph

    def _tables(self) -> Tables:
        return self._tables_of(self.counter.machine)

    def _tables_of(self, machine: Machine) -> Tables:
        own = self.layout()
        return tables(machine, own.sums, [variable for variable, _ in own.minima])

    def layout(self) -> Columns:
        """Return the columns that the lanes add up and compare."""
        return Columns(self.columns.layout, [(lane.variable, n) for n, lane in enumerate(self.columns.minima)])

    def take(self, batch: Batch) -> tuple[Events, Links]:
        """Return the columns that the graph reads, of the events that it has to see."""
        kinds = self.classifier.kinds(batch.types, batch.columns)
        wanted = batch.slots >= 0
        if not self.takes_all:
            wanted &= kinds > 0
        columns, slots, times = batch.columns, batch.slots, batch.times
        if not wanted.all():
            rows = np.flatnonzero(wanted)
            slots, times, kinds = slots[rows], times[rows], kinds[rows]
            indices = pa.array(rows)
            columns = {name: columns[name].take(indices) for name in self._reads()}
        self._learn(columns)
        events = Events(
            slots, times, kinds, self.columns.values(columns, len(times)), self.columns.keys(columns, len(times))
        )
        return events, self._links(columns, kinds)

    def _learn(self, columns: Mapping[str, pa.Array]) -> None:
        """Add the lanes that these values need. Minima of integers are kept as floats once there are floats."""
        whole = self.columns.whole_keys
        for at, count, column in self.columns.learn(columns):
            self.graph.add_lanes(at, count, column, self._tables())
        for key in whole - self.columns.whole_keys:
            self.graph.change_keys(key, partial(self.columns.as_floats, key))

    def _reads(self) -> set[str]:
        """Return the attributes that are read after events have been classified."""
        return {lane.attribute for lane in self.counter.lanes if lane.attribute} | (
            self.links.reads if self.links else set()
        )

    def _links(self, columns: Mapping[str, pa.Array], kinds: Kinds) -> Links:
        if self.links is None:
            return no_links(len(kinds))
        links, promoted = self.links.encode(columns, kinds)
        assert not isinstance(self.graph, PaneGraph)
        for link in promoted:
            self.graph.buffer.promote(link, partial(self.links.as_floats, link))
        return links

    def process(self, events: Events, links: Links, moments: Moments | None) -> Iterator[Cells]:
        if len(events.time) or moments is not None:
            yield from self.graph.process(events, links, moments)

    def save(self) -> dict[str, Any]:
        links = self.links.save() if self.links else None
        return {"columns": self.columns.save(), "links": links, "graph": self.graph.save()}

    def load(self, state: dict[str, Any]) -> None:
        for at, count, column in self.columns.load(state["columns"]):
            self.graph.add_lanes(at, count, column, self._tables())
        if self.links:
            self.links.load(state["links"])
        self.graph.load(state["graph"])


def no_links(events: int) -> Links:
    """Return the columns of no links, for so many events."""
    nothing = np.zeros((0, events), np.int64)
    known = np.zeros((0, events), np.bool_)
    return Links(nothing, nothing, known, known)


def _as_they_are(links: Links) -> Links:
    return links
