"""The event-grained graph of a share set: one buffer of events, one search for predecessors, many queries.

The evaluation of a window is in `set_numba_fns`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Tables
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.bursts_numba_fns import Types
from elsinore.actors.hamlet.graphlets_numba_fns import Members, Sharers
from elsinore.actors.lowering.sets import Columns, Merged, members_of, sharers_of, types_of
from elsinore.actors.neighbours.buffered_numba_fns import sort_runs
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import cells
from elsinore.actors.neighbours.set_numba_fns import INDEX, Lanes, Results, Window, run_linked
from elsinore.actors.neighbours.set_tables import lanes_of, most_at_once, result_of, results, room, scratch_of, trees_of
from elsinore.actors.neighbours.shared_windows import SharedWindows, WindowMember
from elsinore.actors.windows.buffer import Buffer
from elsinore.planner.language.syntax import ComparisonOperator
from elsinore.planner.plans.sharing import LinkedSet
from elsinore.planner.time.windows import Windows


class LinkedMember(WindowMember):
    """The counters of one query; its windows are evaluated by its share set."""

    @property
    def own(self) -> Blocks:
        """An empty block of its counters, for one partition."""
        return Blocks.empty(self.shape, self.exact, 1)


@dataclass(frozen=True)
class Layout:
    """A share set as the arrays that the kernel reads."""

    kinds: int
    """The number of kinds of events for which this layout was made."""
    blocks: list[Blocks]
    members: Members
    sharers: Sharers
    types: Types
    tables: Tables
    lanes: Lanes


class LinkedGraph(SharedWindows[LinkedMember]):
    """The graph of a share set with predicates on neighbours.

    `columns` returns the lanes of each member. `operators` are by link. `comparable` replaces texts by their ranks.
    """

    def __init__(
        self,
        share_set: LinkedSet,
        graphs: Sequence[LinkedMember],
        kinds: EventKinds,
        columns: Callable[[], list[Columns]],
        operators: Sequence[ComparisonOperator],
        comparable: Callable[[Links], Links],
        windows: Windows,
        buffer: Buffer,
    ) -> None:
        super().__init__(graphs, windows, buffer)
        self.share_set = share_set
        self.kinds = kinds
        self.columns = columns
        self.operators = operators
        self.comparable = comparable
        self._layout: Layout | None = None

    def renew(self) -> None:
        self._layout = None

    def _answer(self, start: int, end: int, events: Events, links: Links, runs: npt.NDArray[np.int64]) -> None:
        links = self.comparable(links)
        while True:
            found, flag = self._run(events, links, runs)
            if not flag >> 62:
                break
            self._widen()
        for member, graph in enumerate(self.graphs):
            rows = np.flatnonzero(found.found[member])
            if len(rows):
                out = result_of(member, found, graph.own)
                graph.ready.append(cells(out, rows, np.full(len(rows), start), np.full(len(rows), end), rows))

    def _run(self, events: Events, links: Links, runs: npt.NDArray[np.int64]) -> tuple[Results, int]:
        """Evaluate one window. (results, flag)"""
        made = self._lay_out()
        blocks, lanes, shape = made.blocks, made.lanes, made.blocks[0].shape
        window = _window(links, runs, lanes)
        found = results([graph.counter.machine for graph in self.graphs], blocks, self.group_of, self.groups)
        flag = run_linked(
            events, window, made.members, made.sharers, made.types, made.tables, lanes, links,
            room(
                lanes, trees_of(lanes, self.operators), most_at_once(events, runs, lanes.scanned),
                int(window.counts.max(initial=0)) + 2, shape.words, blocks[0].exact,
            ),
            scratch_of(blocks), np.zeros(sum(len(one.numbers) for one in blocks), blocks[0].numbers.dtype),
            np.full(sum(len(one.least) for one in blocks), NONE, np.int64), shape.words, found,
        )  # fmt: skip
        return found, int(flag)

    def _lay_out(self) -> Layout:
        """Return the layout, made anew if it was discarded or there are other kinds of events."""
        if self._layout is None or self._layout.kinds != len(self.kinds):
            merged = Merged([graph.tables for graph in self.graphs])
            blocks = [graph.own for graph in self.graphs]
            kleenes = self.share_set.kleenes
            self._layout = Layout(
                len(self.kinds),
                blocks,
                members_of(self.graphs, merged, self.kinds),
                sharers_of(kleenes, self.columns(), self.graphs, self.kinds),
                types_of(kleenes, self.kinds),
                merged.tables,
                lanes_of(self.share_set, blocks, self.operators),
            )
        return self._layout

    def _widen(self) -> None:
        """Double the words of all members' numbers: these have the same words for all members."""
        for graph in self.graphs:
            graph.shape = graph.shape._replace(words=2 * graph.shape.words)
        self.renew()


def _window(links: Links, runs: npt.NDArray[np.int64], lanes: Lanes) -> Window:
    """Return the window's events: the next event of each in its partition, and the order of values for trees."""
    after = np.arange(1, runs[-1] + 1)
    after[runs[1:][np.diff(runs) > 0] - 1] = -1
    indexed = lanes.link[lanes.link_at[:-1][lanes.mode == INDEX]]
    order, counts = sort_runs(links, np.isin(np.arange(len(links.left)), indexed), runs)
    return Window(runs, after, order, counts)
