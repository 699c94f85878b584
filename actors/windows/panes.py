"""The type-grained graph of one query: counters per partition, carried from pane to pane.

Events are taken in by pane and partition. What happens at the end of a pane depends on how the
windows are kept: `window_rows` has a row of counters for every open window, `window_maps`
sums up panes and combines the sums.

A number that does not fit stops a kernel before anything is lost. The graph then doubles the
words of all its numbers, and the kernel continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks, scratch
from elsinore.actors.algebra.counters_numba_fns import Events, Shape, Tables, chain, run
from elsinore.actors.columns.events import plain
from elsinore.actors.columns.intake import Growth, Taken
from elsinore.actors.neighbours.graph import Moments
from elsinore.actors.rows.cells import Cells
from elsinore.actors.windows.counting import counting
from elsinore.planner.time.windows import Windows

SEGMENT = 1 << 14
"""Size of a segment, in events that are chained by partition at once: their columns have to stay in the cache."""

NEVER = -(2**62)


class WindowMethod(Protocol):
    """The method by which the windows of a pane graph are kept."""

    rows: int

    def begin(self, graph: PaneGraph, first: int, count: int) -> None:
        """Set partitions `first` to `count` to the state before any event."""

    def open(self, graph: PaneGraph, pane: int) -> None:
        """Start a pane."""

    def close(self, graph: PaneGraph, pane: int) -> Iterator[Cells]:
        """End a pane, and yield the results of the windows that end with it."""

    def clear(self, graph: PaneGraph) -> None:
        """Reset the windows: no open one has an event in it."""

    def resize(self, slots: int) -> None:
        """Make room for `slots` partitions."""

    def blocks(self) -> Iterator[Blocks]:
        """Yield all blocks that are kept in addition to the graph's own."""

    def make_room(self, words: int) -> None:
        """Make room for counters of so many words in what is kept of whole windows."""

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        """Keep only these partitions, in this order."""

    def save(self, slots: int) -> dict[str, Any]:
        """Return what is kept in addition to the graph's own blocks, of the first `slots` partitions."""

    def load(self, state: dict[str, Any]) -> None: ...


class Widening(Protocol):
    """Counters that become results."""

    @property
    def shape(self) -> Shape: ...

    def widen(self) -> None:
        """Double the words of their numbers."""


R = TypeVar("R", covariant=True)


class OfPanes(Protocol[R]):
    """One or several graphs that go from pane to pane."""

    @property
    def windows(self) -> Windows: ...

    @property
    def pane(self) -> int | None:
        """Return the open pane; None before the first event."""

    @property
    def latest(self) -> int:
        """Return the last pane that had an event."""

    def open(self, pane: int) -> None: ...

    def close(self, pane: int) -> Iterator[R]:
        """End the open pane, and yield the results of the windows that end with it."""

    def clear(self) -> None:
        """Reset the windows: no open one has an event in it."""


def end_panes(graph: OfPanes[R], until: int) -> Iterator[R]:
    """End panes until `until` is open, and yield the results; panes that no window needs are skipped."""
    if graph.pane is None:
        graph.open(until)
    while (pane := graph.pane) is not None and pane < until:
        if graph.latest <= pane - graph.windows.panes:
            graph.clear()
            graph.open(until)
        else:
            yield from graph.close(pane)
            graph.open(pane + 1)


class PaneGraph:
    def __init__(self, tables: Tables, shape: Shape, windows: Windows, method: WindowMethod, exact: bool) -> None:
        self.tables = tables
        self.windows = windows
        self.method = method
        self.own = Blocks.empty(shape, exact)
        self.scratch = scratch(shape, exact)
        self._counting = counting(tables, shape.lanes, shape.keys)
        self.group_of = np.zeros(0, np.int32)
        self.pane_of = np.zeros(0, np.int64)
        """By partition, the last pane that had an event of it."""
        self.pane: int | None = None
        self.latest = NEVER
        """The last pane that had an event."""
        self.head = np.zeros(0, np.int64)
        self.result_of = np.zeros(0, np.int32)
        self.peers: Sequence[PaneGraph] = [self]
        """The graphs whose numbers always have equally many words: all of its set."""

    @property
    def shape(self) -> Shape:
        return self.own.shape

    @property
    def slots(self) -> int:
        return len(self.group_of)

    def admit(self, group_of: npt.NDArray[np.int32], groups: int) -> None:
        """Make room for new partitions; `group_of` is of all partitions."""
        known = self.slots
        self.group_of = group_of
        if len(group_of) > self.own.slots:
            room = max(len(group_of), 2 * self.own.slots)
            self.own.resize(room)
            self.method.resize(room)
            self.head = np.full(room, -1, np.int64)
        if len(group_of) > known:
            self.pane_of = np.concatenate([self.pane_of, np.full(len(group_of) - known, NEVER, np.int64)])
            self.method.begin(self, known, len(group_of))
        if groups > len(self.result_of):
            self.result_of = np.full(max(groups, 2 * len(self.result_of)), -1, np.int32)

    def process(self, taken: Taken, _: Moments | None) -> Iterator[Cells]:
        """Take in events, sorted by time and none older than those before, and yield the results that are due."""
        events, length = taken.events, self.windows.pane
        i = 0
        while i < len(events.time):
            pane = int(events.time[i]) // length
            yield from end_panes(self, pane)
            end = int(np.searchsorted(events.time, (pane + 1) * length))
            while i < end:
                i = self._take_in(events, i, end)
            self.latest = pane

    def end_until(self, time: int) -> Iterator[Cells]:
        """Yield the results of all windows that end no later than `time`."""
        return end_panes(self, time // self.windows.pane)

    def finish(self) -> Iterator[Cells]:
        """Yield the results of all open windows that have events."""
        if self.pane is not None:
            yield from end_panes(self, self.latest + self.windows.panes)

    def open(self, pane: int) -> None:
        self.pane = pane
        self.method.open(self, pane)

    def close(self, pane: int) -> Iterator[Cells]:
        return self.method.close(self, pane)

    def clear(self) -> None:
        self.method.clear(self)

    def _take_in(self, events: Events, lo: int, end: int) -> int:
        """Take in a segment of one pane, and return its end; events of one time stay together."""
        hi = min(end, lo + SEGMENT)
        if hi < end:
            hi = int(np.searchsorted(events.time, events.time[hi - 1], side="right"))
        part = plain(Events(*(column[..., lo:hi] for column in events)))
        assert self.pane is not None, "a pane is open"
        if self._counting and self._counting.count(part, self.own, self.slots, self.pane, self.pane_of):
            return hi
        after = np.empty(hi - lo, np.int32)
        touched = np.empty(min(hi - lo, self.slots), np.int64)
        count = chain(part.slot, 0, hi - lo, self.head, after, touched)

        def go_on(first: int) -> int:
            own = self.own
            result: int = run(
                part, self.head, after, touched, first, count, self.tables, self.shape, own.numbers, own.least,
                self.pane, self.pane_of, self.scratch,
            )  # fmt: skip
            return result

        self.until(count, go_on)
        return hi

    def until(self, count: int, step: Callable[[int], int]) -> None:
        """Call a kernel, each time from where it stopped and with wider numbers, until it has done `count` things."""
        done = step(0)
        while done < count:
            self.widen()
            done = step(done)

    def extend(self, growth: Growth, tables: Tables) -> None:
        """Insert lanes of zeros, convert minima, and replace the tables by those that include the lanes."""
        all_blocks = (self.own, *self.method.blocks())
        for at, count, _ in growth.lanes:
            for blocks in all_blocks:
                blocks.add_lanes(at, count)
        for key, as_floats in growth.floats.items():
            for blocks in all_blocks:
                least = blocks.least.reshape(-1, blocks.shape.keys)
                least[:, key] = as_floats(least[:, key])
        self.tables = tables
        self._counting = counting(tables, self.shape.lanes, self.shape.keys)
        if growth.lanes:
            self.scratch = scratch(self.shape, self.own.exact)

    def widen(self) -> None:
        """Double the words of all numbers, and of those of its peers."""
        words = self.shape.words * 2
        for graph in self.peers:
            graph.use_words(words)

    def use_words(self, words: int) -> None:
        self.own.widen(words)
        self.method.make_room(words)
        self.scratch = scratch(self.shape, self.own.exact)

    def keep(self, slots: npt.NDArray[np.int64], group_of: npt.NDArray[np.int32]) -> None:
        """Keep only these partitions, in this order; the others are in no open window."""
        self.own = self.own.of_slots(slots)
        self.head = np.full(len(slots), -1, np.int64)
        self.pane_of = self.pane_of[slots]
        self.group_of = group_of
        self.method.keep(slots)

    def emit(
        self, window: int, counters: Widening, results: Callable[[Blocks, npt.NDArray[np.int32]], tuple[int, int]]
    ) -> Iterator[Cells]:
        """Yield the cells of a window, from the blocks that `results` writes; counters are widened until all fit."""
        groups = len(self.result_of)
        group = np.empty(groups, np.int32)
        while True:
            shape = counters.shape._replace(rows=1, states=1)
            out = Blocks.uncleared(shape, self.own.exact, groups)
            rows, flag = results(out, group)
            if not flag >> 62:
                break
            counters.widen()
        if rows:
            start = window * self.windows.slide
            yield Cells(
                np.full(rows, start, np.int64),
                np.full(rows, start + self.windows.within, np.int64),
                group[:rows].copy(),
                out.numbers.reshape(groups, shape.lanes, shape.words)[:rows].copy(),
                out.least.reshape(groups, shape.keys)[:rows].copy(),
            )

    def save(self) -> dict[str, Any]:
        """Return the blocks of the present partitions, and the position in the stream."""
        return {
            "own": self.own.of_slots(np.arange(self.slots)).save(),
            "pane": self.pane,
            "pane_of": self.pane_of,
            "latest": self.latest,
            "method": self.method.save(self.slots),
        }

    def load(self, state: dict[str, Any]) -> None:
        self.own = Blocks.load(state["own"])
        self.head = np.full(self.slots, -1, np.int64)
        self.pane, self.pane_of, self.latest = state["pane"], state["pane_of"], state["latest"]
        self.scratch = scratch(self.shape, self.own.exact)
        self.method.load(state["method"])
