"""Graphs that keep the events of their open windows, and evaluate a window when it is over.

Event-grained graphs have to keep events in any case, to compare later ones with them. The events
of a complete window can also be sorted by the values that are compared. Windows that move with
every event have no panes to sum up: single events leave them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks, scratch
from elsinore.actors.algebra.counters_numba_fns import Events, Shape, Tables
from elsinore.actors.columns.intake import Growth, Taken
from elsinore.actors.lowering.entries import entries_per_event, guard_entries_per_event
from elsinore.actors.members import SetMember
from elsinore.actors.neighbours.buffered_numba_fns import run_moments, run_partitions, run_stacks, sort_runs
from elsinore.actors.neighbours.entries_numba_fns import EntryWorkspace, EventTables, Links
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.buffer import Buffer
from elsinore.actors.windows.open_windows import OpenWindows
from elsinore.planner.plans.model import Counter
from elsinore.planner.time.windows import Windows


@dataclass(frozen=True)
class Moments:
    """The times, by group and in order, at which windows that move with every event have a result."""

    at: npt.NDArray[np.int64]
    """Where each group's moments begin, and the end of the last group's."""
    time: npt.NDArray[np.int64]
    group_of: npt.NDArray[np.int32]
    """By partition, the group to whose moments it contributes."""


class BufferedGraph:
    """The base of graphs that keep their events in a buffer."""

    def __init__(self, member: SetMember, links: int, exact: bool) -> None:
        self.member = member
        self.counter = member.counter
        self.tables = member.tables()
        self.exact = exact
        self.shape = member.shape(1 if exact else 2)
        self.buffer = Buffer.of(member.columns, links, exact)
        self.group_of = np.zeros(0, np.int32)
        self.groups = 0

    def admit(self, group_of: npt.NDArray[np.int32], groups: int) -> None:
        """Add new partitions; `group_of` is of all partitions."""
        self.group_of = group_of
        self.groups = groups

    def keep(self, slots: npt.NDArray[np.int64], group_of: npt.NDArray[np.int32]) -> None:
        """Keep only these partitions, in this order."""
        self.buffer.keep(slots, len(self.group_of))
        self.group_of = group_of

    def extend(self, growth: Growth, tables: Tables) -> None:
        """Insert lanes, with their columns of values, convert minima, and replace the tables."""
        self.buffer.extend_columns(growth)
        self.shape = self.shape._replace(lanes=self.shape.lanes + sum(count for _, count, _ in growth.lanes))
        self.tables = tables

    def widening(self, step: Callable[[], int]) -> None:
        """Repeat a step with wider numbers until all of them fit."""
        while step() >> 62:
            self.shape = self.shape._replace(words=2 * self.shape.words)

    def results(self, rows: int) -> Blocks:
        return Blocks.empty(self.shape._replace(rows=1, states=1), self.exact, rows)

    def save(self) -> dict[str, Any]:
        return {"buffer": self.buffer.save()}

    def load(self, state: dict[str, Any]) -> None:
        self.buffer.load(state["buffer"])


class WindowGraph(BufferedGraph):
    """An event-grained graph with windows of panes: each window is evaluated from its first event on."""

    def __init__(
        self, single: EventTables, windows: Windows, comparable: Callable[[Links], Links], *common: Any
    ) -> None:
        super().__init__(*common)
        self.single = single
        self.windows = windows
        self.comparable = comparable
        self.open = OpenWindows(windows, self.buffer)

    def process(self, taken: Taken, _: Moments | None) -> Iterator[Cells]:
        self.buffer.append(taken)
        yield from self.end_until(int(taken.events.time[-1]))

    def end_until(self, time: int) -> Iterator[Cells]:
        """Evaluate the windows that end no later than `time`."""
        for start in self.open.until(time):
            yield from self._evaluate(start)

    def finish(self) -> Iterator[Cells]:
        for start in self.open.rest():
            yield from self._evaluate(start)

    def _evaluate(self, start: int) -> Iterator[Cells]:
        found = self.open.events(start, len(self.group_of))
        if found is None:
            return
        events, links, runs = found
        links = self.comparable(links)
        out, group, rows = self.results(0), np.empty(self.groups, np.int32), 0

        def step() -> int:
            nonlocal out, rows
            out = self.results(self.groups)
            rows, flag = self._run(start, events, links, runs, out, group)
            return int(flag)

        self.widening(step)
        if rows:
            yield cells(
                out, np.arange(rows), np.full(rows, start), np.full(rows, start + self.windows.within), group[:rows]
            )

    def _run(self, start: int, events: Events, links: Links, runs: Any, out: Blocks, group: Any) -> tuple[int, int]:
        """Evaluate the window that starts at `start`; write results to `out`, their groups to `group`. (rows, flag)"""
        used = np.isin(np.arange(len(links.left)), self.single.index_link)
        order, counts = sort_runs(links, used, runs)
        span, workspace = entry_workspace(self.counter, self.shape, self.exact, self.single, int(np.diff(runs).max()))
        result_of = np.full(self.groups, -1, np.int32)
        rows, flag = run_partitions(
            events, runs, order, counts, self.tables, self.single, links, self.shape, workspace,
            scratch(self.shape, self.exact), span, self.group_of, result_of, out.numbers, out.least, group,
        )  # fmt: skip
        return rows, flag

    def save(self) -> dict[str, Any]:
        return {**super().save(), "next_window": self.open.next}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.open.next = state["next_window"]


class MovingGraph(BufferedGraph):
    """A graph with windows that move with every event; it uses two stacks if there are no predicates on neighbours."""

    def __init__(
        self, single: EventTables | None, within: int, comparable: Callable[[Links], Links], *common: Any
    ) -> None:
        super().__init__(*common)
        if single is None:
            self.shape = self.shape._replace(rows=len(self.tables.starts))
        self.single = single
        self.within = within
        self.comparable = comparable

    def process(self, taken: Taken, moments: Moments | None) -> Iterator[Cells]:
        assert moments is not None
        self.buffer.append(taken)
        if len(moments.time) and len(self.buffer):
            yield from self._evaluate(moments)
        if len(taken.events.time):
            self.buffer.drop_before(int(taken.events.time[-1]) - self.within + 1)

    def end_until(self, time: int) -> Iterator[Cells]:
        yield from ()

    def finish(self) -> Iterator[Cells]:
        yield from ()

    def _evaluate(self, moments: Moments) -> Iterator[Cells]:
        events, links, runs = self.buffer.by_slot(0, len(self.buffer), len(self.group_of))
        links = self.comparable(links)
        row_of, group, moment = self._rows(moments)
        found = np.zeros(len(group), np.bool_)
        out = self.results(0)

        def step() -> int:
            nonlocal out
            out = self.results(len(group))
            evaluate = self._by_window if self.single else self._by_stacks
            return evaluate(events, links, runs, moments, row_of, out, found)

        self.widening(step)
        rows = np.flatnonzero(found)
        if len(rows):
            end = moments.time[moment[rows]]
            yield cells(out, rows, end - self.within, end, group[rows])

    def _rows(self, moments: Moments) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return, by partition, the first row of its group, and by row, its group and its moment.

        Results are merged by `group_of`: partitions of one group share rows. Where members of an AND
        are paired up later, each partition has rows of its own.
        """
        counts = np.diff(moments.at)[moments.group_of]
        first = np.zeros(self.groups + 1, np.int64)
        sizes = np.zeros(self.groups, np.int64)
        sizes[self.group_of] = counts
        first[1:] = np.cumsum(sizes)
        group = np.repeat(np.arange(self.groups, dtype=np.int32), sizes)
        start = np.zeros(self.groups, np.int64)
        start[self.group_of] = moments.at[moments.group_of]
        moment = np.arange(len(group)) - first[group] + start[group]
        return first[self.group_of], group, moment

    def _by_window(
        self, events: Events, links: Links, runs: Any, moments: Moments, row_of: Any, out: Blocks, found: Any
    ) -> int:
        assert self.single is not None
        span, workspace = entry_workspace(self.counter, self.shape, self.exact, self.single, int(np.diff(runs).max()))
        result: int = run_moments(
            events, runs, self.within, moments.at, moments.time, moments.group_of, row_of, self.tables, self.single,
            links, self.shape, workspace, scratch(self.shape, self.exact), span, out.numbers, out.least, found,
        )  # fmt: skip
        return result

    def _by_stacks(
        self, events: Events, links: Links, runs: Any, moments: Moments, row_of: Any, out: Blocks, found: Any
    ) -> int:
        after = np.arange(1, len(events.time) + 1)
        ends = runs[1:][np.diff(runs) > 0] - 1
        after[ends] = -1
        back, one, suffix, joined = (Blocks.empty(self.shape, self.exact, 1) for _ in range(4))
        vectors = Blocks.empty(self.shape._replace(rows=1), self.exact, len(events.time))
        result: int = run_stacks(
            events, after, runs, self.within, moments.at, moments.time, moments.group_of, row_of, self.tables,
            self.shape, scratch(self.shape, self.exact), back.numbers, back.least, one.numbers, one.least,
            suffix.numbers, suffix.least, joined.numbers, joined.least, vectors.numbers, vectors.least, out.numbers,
            out.least, found,
        )  # fmt: skip
        return result


def entry_workspace(
    counter: Counter, shape: Shape, exact: bool, single: EventTables, longest: int
) -> tuple[int, EntryWorkspace]:
    """Return the memory for the longest run of events. (ranks from one tree to the next, memory)"""
    block = Blocks.empty(shape, exact, 1)
    one = Blocks.empty(shape._replace(states=1), exact, 1)
    entries = Blocks.empty(one.shape, exact, longest * entries_per_event(counter, single) + 1)
    span = longest + 2
    trees = Blocks.empty(one.shape, exact, span * len(single.index_state))
    partial = longest * guard_entries_per_event(single) + 1
    links = len(single.link_operator)
    return span, EntryWorkspace(
        block.numbers,
        block.least,
        np.zeros(entries.slots, np.int64),
        np.zeros(entries.slots, np.int32),
        entries.numbers,
        entries.least,
        one.numbers,
        one.least,
        trees.numbers,
        trees.least,
        np.zeros((links, longest), np.int64),
        np.zeros(links, np.int64),
        np.zeros(partial, np.int64),
        np.zeros(partial, np.int32),
        np.zeros(partial, np.int64),
        np.zeros(len(single.close_at) - 1, np.int64),
    )


def cells(out: Blocks, rows: Any, start: Any, end: Any, group: Any) -> Cells:
    """Return some rows of results as cells."""
    shape = out.shape
    return Cells(
        np.asarray(start, np.int64),
        np.asarray(end, np.int64),
        np.asarray(group, np.int32),
        out.numbers.reshape(-1, shape.lanes, shape.words)[rows],
        out.least.reshape(out.slots, shape.keys)[rows],
    )
