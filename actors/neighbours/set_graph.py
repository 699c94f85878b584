"""The event-grained graph of a share set: one buffer of events, one search for predecessors, many queries.

The evaluation of a window is in `set_numba_fns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Tables
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.columns.links import LinkColumns, Mask
from elsinore.actors.hamlet.bursts_numba_fns import Types
from elsinore.actors.hamlet.graphlets_numba_fns import Members, Sharers
from elsinore.actors.lowering.link_lanes import (
    lanes_of,
    linked_workspace,
    most_at_once,
    result_of,
    results,
    scratch_of,
    trees_of,
)
from elsinore.actors.lowering.sets import Merged, members_of, sharers_of, types_of
from elsinore.actors.members import SetMember
from elsinore.actors.neighbours.buffered_numba_fns import sort_runs
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import cells
from elsinore.actors.neighbours.set_numba_fns import INDEX, Lanes, LinkedResults, Window, run_linked
from elsinore.actors.set_graph import MemberCells
from elsinore.actors.windows.window_set import WindowSet
from elsinore.planner.hamlet.linked_sets import without_linked
from elsinore.planner.plans.sharing import LinkedSet
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class LinkedLayout:
    """A share set as the arrays that the kernel reads."""

    kinds: int
    """The number of kinds of events for which this layout was made."""
    blocks: list[Blocks]
    members: Members
    sharers: Sharers
    types: Types
    tables: Tables
    lanes: Lanes


class LinkedGraph(WindowSet):
    """The graph of a share set with predicates on neighbours, whose values `links` encodes."""

    def __init__(
        self,
        share_set: LinkedSet,
        members: Sequence[SetMember],
        kinds: EventKinds,
        links: LinkColumns,
        clock: Clock,
        exact: bool,
    ) -> None:
        super().__init__(members, kinds, clock, exact, len(links.links))
        self.share_set = share_set
        self.links = links
        self.operators = [link.operator for link in links.links]
        # Events of the types that a member shares only become entries of the share set.
        self.machines = [
            without_linked(member.counter.machine, shared_types(share_set, number))
            for number, member in enumerate(members)
        ]
        self._layout: LinkedLayout | None = None

    def renew(self) -> None:
        self._layout = None

    def evaluate(
        self, start: int, end: int, events: Events, links: Links, runs: npt.NDArray[np.int64], found: MemberCells
    ) -> None:
        links = self.links.comparable(links)
        while True:
            results, flag = self._run(events, links, runs)
            if not flag >> 62:
                break
            self.widen()
        blocks = self._lay_out().blocks
        for member, cells_of in enumerate(found):
            rows = np.flatnonzero(results.found[member])
            if len(rows):
                out = result_of(member, results, blocks[member])
                cells_of.append(cells(out, rows, np.full(len(rows), start), np.full(len(rows), end), rows))

    def _run(self, events: Events, links: Links, runs: npt.NDArray[np.int64]) -> tuple[LinkedResults, int]:
        """Evaluate one window. (results, flag)"""
        made = self._lay_out()
        blocks, lanes, shape = made.blocks, made.lanes, made.blocks[0].shape
        window = _window(links, runs, lanes)
        found = results([member.counter.machine for member in self.members], blocks, self.group_of, self.groups)
        flag = run_linked(
            events, window, made.members, made.sharers, made.types, made.tables, lanes, links,
            linked_workspace(
                lanes, trees_of(lanes, self.operators), most_at_once(events, runs, lanes.scanned),
                int(window.counts.max(initial=0)) + 2, shape.words, blocks[0].exact,
            ),
            scratch_of(blocks), np.zeros(sum(len(one.numbers) for one in blocks), blocks[0].numbers.dtype),
            np.full(sum(len(one.least) for one in blocks), NONE, np.int64), shape.words, found,
        )  # fmt: skip
        return found, int(flag)

    def _lay_out(self) -> LinkedLayout:
        """Return the layout, made anew if it was discarded or there are other kinds of events."""
        if self._layout is None or self._layout.kinds != len(self.kinds):
            merged = Merged([member.tables(own) for member, own in zip(self.members, self.machines, strict=True)])
            blocks = [Blocks.empty(member.shape(self.words), self.exact, 1) for member in self.members]
            kleenes = self.share_set.kleenes
            columns, shapes = [member.reads() for member in self.members], [one.shape for one in blocks]
            self._layout = LinkedLayout(
                len(self.kinds),
                blocks,
                members_of(blocks, merged, self.kinds),
                sharers_of(kleenes, columns, shapes, self.kinds),
                types_of(kleenes, self.kinds),
                merged.tables,
                lanes_of(self.share_set, blocks, self.operators),
            )
        return self._layout


def _window(links: Links, runs: npt.NDArray[np.int64], lanes: Lanes) -> Window:
    """Return the window's events: the next event of each in its partition, and the order of values for trees."""
    after = np.arange(1, runs[-1] + 1)
    after[runs[1:][np.diff(runs) > 0] - 1] = -1
    indexed = lanes.link[lanes.link_at[:-1][lanes.mode == INDEX]]
    order, counts = sort_runs(links, np.isin(np.arange(len(links.left)), indexed), runs)
    return Window(runs, after, order, counts)


def shared_types(share_set: LinkedSet, member: int) -> frozenset[str]:
    """Return the types of which a member has no trends but those of the share set."""
    return frozenset(
        kleene.type for kleene in share_set.kleenes if any(sharer.member == member for sharer in kleene.sharers)
    )


def links_of(share_set: LinkedSet, members: Sequence[SetMember], kinds: EventKinds) -> LinkColumns:
    """Return the columns of the links of a share set."""
    asked = [(members[one.member].plan, one.link) for one in share_set.links]
    links = [plan.predicates.links[number] for plan, number in asked]
    return LinkColumns(links, [plan.query.name for plan, _ in asked], lambda: _readers(share_set, kinds))


def _readers(share_set: LinkedSet, kinds: EventKinds) -> list[tuple[Mask, Mask]]:
    """Return, by link and for both its sides, by kind of events, whether a sharer with the link takes such events."""
    found = [np.zeros(len(kinds), np.bool_) for _ in share_set.links]
    for kleene, lanes in zip(share_set.kleenes, share_set.lanes, strict=True):
        bit = {sharer: 1 << n for n, same in enumerate(kleene.lanes) for sharer in same}
        first = 0
        for lane in lanes:
            asking = [bit[sharer] for sharer in range(first, first + lane.sharers)]
            first += lane.sharers
            for kind, takes in enumerate(kinds.takes):
                own = kind > 0 and kinds.types[kinds.type_of[kind]] == kleene.type
                for link in lane.links if own and any(takes & one for one in asking) else ():
                    found[link][kind] = True
    return [(one, one) for one in found]
