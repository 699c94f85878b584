"""One counter of a query at work: from a batch's columns to cells of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.blocks import number_type
from actors.cells import Cells
from actors.classify import Classifier
from actors.counters_numba_fns import Events, Shape
from actors.lane_columns import LaneColumns
from actors.pane_graph import PaneGraph, WindowMethod
from actors.tables import tables
from actors.window_maps import WindowMaps
from actors.window_rows import WindowRows
from planner.clock import Clock
from planner.plan import Counter, QueryPlan
from planner.windows import Windows


@dataclass(frozen=True)
class Batch:
    """Events sorted by time, with the partition of each (-1: in none)."""

    types: pa.DictionaryArray
    times: npt.NDArray[np.int64]
    columns: Mapping[str, pa.Array]
    slots: npt.NDArray[np.int32]


class Counting:
    """A counter's graph, and what it takes to feed it."""

    def __init__(self, plan: QueryPlan, counter: Counter, clock: Clock, exact: bool) -> None:
        self.counter = counter
        self.exact = exact
        self.takes_all = counter.machine.semantics == "contiguous"
        self.classifier = Classifier(counter.machine, plan.predicates, plan.query.name)
        self.columns = LaneColumns(counter.lanes, exact, plan.query.name)
        self.graph = self._graph(plan, clock)

    def _graph(self, plan: QueryPlan, clock: Clock) -> PaneGraph:
        machine = self.counter.machine
        windows = Windows.of(plan.query, clock)
        lanes, keys = 1 + len(self.columns.sums), len(self.columns.minima)
        method: WindowMethod
        if plan.window_method(self.counter) == "pane maps":
            shape = Shape(len(machine.starts), len(machine.states), lanes, keys, 1 if self.exact else 2)
            method = WindowMaps(windows, len(machine.starts), shape, self.exact)
        else:
            method = WindowRows(windows)
        return PaneGraph(self._tables(), len(machine.states), lanes, keys, windows, method, self.exact)

    def _tables(self) -> Any:
        return tables(self.counter.machine, self.columns.layout, [lane.variable for lane in self.columns.minima])

    def process(self, batch: Batch) -> Iterator[Cells]:
        events = self._events(batch)
        if len(events.time):
            yield from self.graph.process(events)

    def _events(self, batch: Batch) -> Events:
        kinds = self.classifier.kinds(batch.types, batch.columns)
        wanted = batch.slots >= 0
        if not self.takes_all:
            wanted &= kinds > 0
        columns, slots, times = batch.columns, batch.slots, batch.times
        if not wanted.all():
            rows = np.flatnonzero(wanted)
            slots, times, kinds = slots[rows], times[rows], kinds[rows]
            needed = {lane.attribute for lane in self.counter.lanes if lane.attribute}
            columns = {name: columns[name].take(pa.array(rows)) for name in needed}
        for at, count in self.columns.learn(columns):
            self.graph.add_lanes(at, count, self._tables())
        if not self.counter.lanes:
            values = np.zeros((0, len(times)), number_type(self.exact))
            return Events(slots, times, kinds, values, np.zeros((0, len(times)), np.int64))
        values, keys = self.columns.values(columns, len(times)), self.columns.keys(columns, len(times))
        return Events(slots, times, kinds, values, keys)

    def save(self) -> dict[str, Any]:
        return {"columns": self.columns.save(), "graph": self.graph.save()}

    def load(self, state: dict[str, Any]) -> None:
        for at, count in self.columns.load(state["columns"]):
            self.graph.add_lanes(at, count, self._tables())
        self.graph.load(state["graph"])
