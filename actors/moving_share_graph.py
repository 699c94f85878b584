"""Windows that move with every event, of all queries of a share set: one buffer of events, cut into bursts once.

When a window of some query is due, it is evaluated over the events of the buffer, as that of a query by itself
(`buffered_graph.MovingGraph`). What an evaluation does is in `moving_share_numba_fns`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from actors.blocks import Blocks
from actors.buffer import Buffer
from actors.buffered_graph import MovingGraph, cells
from actors.buffered_numba_fns import order_by_slot
from actors.cells import Cells
from actors.counters_numba_fns import Events
from actors.counting import no_links
from actors.event_kinds import EventKinds
from actors.graphlets_numba_fns import Members, Sharers
from actors.hamlet_numba_fns import COEFFICIENTS, DONE, NUMBERS, Types
from actors.linked_tables import scratch_of
from actors.moving_bursts_numba_fns import find_due
from actors.moving_share_numba_fns import Due, Machines, Results, run_moving
from actors.moving_tables import (
    coefficients,
    enders,
    machines_of,
    most_places,
    pieces_and_entries,
    result_of,
    results,
    room,
)
from actors.share_tables import Columns, Merged, members_of, sharers_of, types_of
from planner.sharing import ShareSet

STACK = 256
"""Room for so many maps at first."""


class MovingMember(MovingGraph):
    """What there is to know of one query; its windows are evaluated by its share set."""

    @property
    def own(self) -> Blocks:
        """A map of its counters."""
        return Blocks.empty(self.shape, self.exact, 1)


@dataclass(frozen=True)
class Layout:
    """A share set as kernels read it."""

    blocks: list[Blocks]
    members: Members
    sharers: Sharers
    types: Types
    merged: Merged
    machines: Machines
    enders: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


class MovingShareGraph:
    """`columns` tells what the lanes of each member add up, `ends` which classes of events may end its trends."""

    def __init__(
        self,
        share_set: ShareSet,
        graphs: Sequence[MovingMember],
        kinds: EventKinds,
        columns: Callable[[], list[Columns]],
        ends: Sequence[npt.NDArray[np.bool_]],
        buffer: Buffer,
    ) -> None:
        self.kleenes = share_set.kleenes
        self.graphs = graphs
        self.kinds = kinds
        self.columns = columns
        self.ends = ends
        self.buffer = buffer
        self.longest = max(graph.within for graph in graphs)
        self.words = 1 if graphs[0].exact else 2
        """Of coefficients."""
        self.stack = STACK
        self._layout: Layout | None = None

    def process(self, events: Events) -> list[Cells | None]:
        """Take in events, sorted by time, none older than those before; per member, the results due by them."""
        if not len(events.time):
            return [None] * len(self.graphs)
        self.buffer.extend(events, no_links(len(events.time)))
        found = self._evaluate(self._due(events))
        self.buffer.drop_before(int(events.time[-1]) - self.longest + 1)
        return found

    def renew(self) -> None:
        """Members have other lanes, or columns stand elsewhere."""
        self._layout = None

    def save(self) -> dict[str, Any]:
        return {"buffer": self.buffer.save()}

    def load(self, state: dict[str, Any]) -> None:
        self.buffer.load(state["buffer"])

    def _due(self, events: Events) -> Due:
        graph = self.graphs[0]
        order, runs = order_by_slot(graph.group_of[events.slot], graph.groups)
        return Due(*find_due(events.time, events.kind, order, runs, *self._lay_out().enders, len(self.graphs)))

    def _evaluate(self, due: Due) -> list[Cells | None]:
        if not len(due.time):
            return [None] * len(self.graphs)
        events, _, runs = self.buffer.by_slot(0, len(self.buffer), len(self.graphs[0].group_of))
        while True:
            found, stopped = self._run(events, runs, due)
            if stopped == DONE:
                return [self._cells(member, found, due) for member in range(len(self.graphs))]
            self._make_room(stopped)

    def _cells(self, member: int, found: Results, due: Due) -> Cells | None:
        first, end = due.row_at[member : member + 2]
        rows = np.flatnonzero(found.found[first:end])
        graph = self.graphs[member]
        time = due.time[first:end][rows]
        out = result_of(member, found, graph.own)
        return cells(out, rows, time - graph.within, time, due.group[first:end][rows]) if len(rows) else None

    def _run(self, events: Events, runs: npt.NDArray[np.int64], due: Due) -> tuple[Results, int]:
        """All windows that are due. (results, why it stopped)"""
        made = self._lay_out()
        blocks, words = made.blocks, made.blocks[0].shape.words
        # Numbers of one word are of another kind than longer ones.
        self.words = max(self.words, min(words, 2))
        after = np.arange(1, len(events.time) + 1)
        after[runs[1:][np.diff(runs) > 0] - 1] = -1
        places = most_places(events, runs, made.types, made.machines)
        exact = self.graphs[0].exact
        fore, rear = (
            coefficients(made.sharers, count, self.words, exact)
            for count in (places, places if made.machines.rides.any() else 0)
        )
        pieces, entries = pieces_and_entries(int(np.diff(runs).max()))
        found = results(due, blocks)
        stopped = run_moving(
            events, after, runs, self.graphs[0].group_of, due, made.members, made.sharers, made.types,
            made.merged.tables, made.machines, pieces, fore, rear, entries, room(blocks, self.stack),
            scratch_of(blocks), words, found,
        )  # fmt: skip
        return found, int(stopped)

    def _make_room(self, stopped: int) -> None:
        words = self.graphs[0].shape.words
        if stopped == NUMBERS or (stopped == COEFFICIENTS and self.words >= words):
            # What does not fit a coefficient fits no number that it is multiplied with.
            for graph in self.graphs:
                graph.shape = graph.shape._replace(words=2 * words)
            self.renew()
        elif stopped == COEFFICIENTS:
            self.words *= 2
        else:
            self.stack *= 2

    def _lay_out(self) -> Layout:
        """Anew where members have other lanes, numbers are wider, or there are other kinds of events."""
        if self._layout is None or self._layout.members.kinds != len(self.kinds):
            merged = Merged([graph.tables for graph in self.graphs])
            self._layout = Layout(
                [graph.own for graph in self.graphs],
                members_of(self.graphs, merged, self.kinds),
                sharers_of(self.kleenes, self.columns(), self.graphs, self.kinds),
                types_of(self.kleenes, self.kinds),
                merged,
                machines_of(
                    self.kleenes,
                    [graph.tables for graph in self.graphs],
                    [graph.within for graph in self.graphs],
                    self.kinds,
                ),
                enders(self.ends, self.kinds.classes),
            )
        return self._layout
