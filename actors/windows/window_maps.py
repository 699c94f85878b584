"""Windows as combinations of panes, each a linear map: an event costs the same however many windows overlap it.

A pane's block is its map: row by row, what the pane makes of one trend in each start state. Maps
are combined by two stacks (as in sliding-window aggregation), which meet at the middle. Before the
middle, each window has a vector: its counters after the panes from its start up to the middle. The
panes after the middle are kept as one map, `back`. The result of a window that ends is its vector
times `back`. When all windows with a vector have ended, the middle moves to the present: `_flip`.

A pane counts fewer trends than a window, so its numbers may have fewer words: the events are then counted as quickly as
those of short windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Shape
from elsinore.actors.rows.cells import Cells, Numbers
from elsinore.actors.windows.panes import PaneGraph
from elsinore.actors.windows.windows_numba_fns import begin_all, emit_maps, fold, identity_all, prepend
from elsinore.planner.time.windows import Windows


@dataclass
class Pane:
    """The maps of one pane, for the partitions that had events in it."""

    slots: npt.NDArray[np.int64]
    maps: Blocks


class WindowMaps:
    def __init__(self, windows: Windows, shape: Shape, exact: bool) -> None:
        self.windows = windows
        self.rows = shape.rows
        self.back = Blocks.empty(shape, exact)
        self.exact = exact
        self.fresh = Blocks.empty(shape._replace(rows=1), exact)
        """By partition, the vector of a window that had no event before the middle."""
        self.panes: dict[int, Pane] = {}
        """The panes after the middle, by number."""
        self.vectors: dict[int, Blocks] = {}
        """The vectors of windows that start before the middle, by the pane that a window starts with."""
        self.middle = 0

    @property
    def shape(self) -> Shape:
        """Return the shape of `back`; vectors have one row of it."""
        return self.back.shape

    def widen(self) -> None:
        """Double the words of whole windows."""
        self.make_room(2 * self.shape.words)

    def make_room(self, words: int) -> None:
        if self.shape.words < words:
            for blocks in self._dense():
                blocks.widen(words)

    def begin(self, graph: PaneGraph, first: int, count: int) -> None:
        for blocks in (graph.own, self.back):
            identity_all(blocks.shape, graph.tables, blocks.numbers, blocks.least, first, count)
        for vectors in (self.fresh, *self.vectors.values()):
            begin_all(vectors.shape, vectors.numbers, vectors.least, first, count)

    def open(self, graph: PaneGraph, pane: int) -> None:
        if not self.panes and not self.vectors:
            self.middle = pane

    def close(self, graph: PaneGraph, pane: int) -> Iterator[Cells]:
        self._fold(graph, pane)
        start = pane + 1 - self.windows.panes
        window, rest = divmod(start, self.windows.step)
        if rest:
            return
        if start >= self.middle:
            self._flip(graph, start, pane + 1)
        yield from graph.emit(window, self, lambda out, group: self._results(graph, start, out, group))
        for old in [old for old in self.vectors if old <= start]:
            del self.vectors[old]

    def _fold(self, graph: PaneGraph, pane: int) -> None:
        """Multiply `back` by the map of the pane that ends."""
        slots = np.flatnonzero(graph.pane_of == pane)
        if not len(slots):
            return

        self.panes[pane] = Pane(slots, graph.own.of_slots(slots))
        done = 0
        while done < len(slots):
            joined = Blocks.empty(self.shape, self.exact, 1)
            done = fold(
                self.shape, graph.tables, slots, done, self._in_words(graph.own), graph.own.least, graph.shape.words,
                self.back.numbers, self.back.least, joined.numbers, joined.least,
            )  # fmt: skip
            if done < len(slots):
                self.widen()

    def _in_words(self, counted: Blocks) -> Numbers:
        """Return the numbers of a pane in the type of those of windows; single words are words of longer numbers."""
        return counted.numbers.view(self.back.numbers.dtype)

    def _flip(self, graph: PaneGraph, start: int, now: int) -> None:
        while not self._vectors(graph, start, now):
            self.widen()
        self.panes.clear()
        self.middle = now
        identity_all(self.shape, graph.tables, self.back.numbers, self.back.least, 0, graph.slots)

    def _vectors(self, graph: PaneGraph, start: int, now: int) -> bool:
        """Compute the vectors of the windows that start at `start` or later, from the last pane backwards.

        Return whether all numbers fit.
        """
        suffix = Blocks.empty(self.shape, self.exact, self.back.slots)
        identity_all(self.shape, graph.tables, suffix.numbers, suffix.least, 0, graph.slots)
        joined = Blocks.empty(self.shape, self.exact, 1)
        vectors = self.fresh
        self.vectors.clear()
        for number in range(now - 1, start - 1, -1):
            if pane := self.panes.get(number):
                vectors = Blocks(vectors.shape, vectors.exact, vectors.numbers.copy(), vectors.least.copy())
                flag = prepend(
                    self.shape, graph.tables, pane.slots, self._in_words(pane.maps), pane.maps.least,
                    pane.maps.shape.words, suffix.numbers, suffix.least, vectors.numbers, vectors.least,
                    joined.numbers, joined.least,
                )  # fmt: skip
                if flag >> 62:
                    return False
            if number % self.windows.step == 0:
                self.vectors[number] = vectors
        return True

    def _results(self, graph: PaneGraph, start: int, out: Blocks, group: npt.NDArray[np.int32]) -> tuple[int, int]:
        vectors = self.vectors.get(start, self.fresh)
        joined = Blocks.empty(self.fresh.shape, self.exact, 1)
        found: tuple[int, int] = emit_maps(
            self.shape, graph.tables, vectors.numbers, vectors.least, self.back.numbers, self.back.least,
            start, graph.pane_of, graph.group_of, graph.result_of,
            joined.numbers, joined.least, out.numbers, out.least, group,
        )  # fmt: skip
        return found

    def clear(self, graph: PaneGraph) -> None:
        self.panes.clear()
        self.vectors.clear()
        identity_all(self.shape, graph.tables, self.back.numbers, self.back.least, 0, graph.slots)

    def blocks(self) -> Iterator[Blocks]:
        yield from self._dense()
        yield from (pane.maps for pane in self.panes.values())

    def _dense(self) -> Iterator[Blocks]:
        """Yield the blocks that have every partition, each once: windows may share their vectors."""
        yield self.back
        yield from {id(vectors): vectors for vectors in (self.fresh, *self.vectors.values())}.values()

    def resize(self, slots: int) -> None:
        for blocks in self._dense():
            blocks.resize(slots)

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        self.back = self.back.of_slots(slots)
        self.fresh = self.fresh.of_slots(slots)
        taken = {id(vectors): vectors.of_slots(slots) for vectors in self.vectors.values()}
        self.vectors = {number: taken[id(vectors)] for number, vectors in self.vectors.items()}
        place = {int(slot): i for i, slot in enumerate(slots)}
        for pane in self.panes.values():
            kept = np.array([i for i, slot in enumerate(pane.slots) if int(slot) in place], np.int64)
            pane.maps = pane.maps.of_slots(kept)
            pane.slots = np.array([place[int(slot)] for slot in pane.slots[kept]], np.int64)

    def save(self, slots: int) -> dict[str, Any]:
        alive = np.arange(slots)
        vectors = {id(vectors): vectors for vectors in self.vectors.values()}
        return {
            "middle": self.middle,
            "back": self.back.of_slots(alive).save(),
            "fresh": self.fresh.of_slots(alive).save(),
            "vectors": [one.of_slots(alive).save() for one in vectors.values()],
            "vectors_of": [(number, list(vectors).index(id(one))) for number, one in self.vectors.items()],
            "panes": [(number, pane.slots, pane.maps.save()) for number, pane in self.panes.items()],
        }

    def load(self, state: dict[str, Any]) -> None:
        self.middle = state["middle"]
        self.back, self.fresh = Blocks.load(state["back"]), Blocks.load(state["fresh"])
        vectors = [Blocks.load(one) for one in state["vectors"]]
        self.vectors = {number: vectors[k] for number, k in state["vectors_of"]}
        self.panes = {number: Pane(slots, Blocks.load(maps)) for number, slots, maps in state["panes"]}
