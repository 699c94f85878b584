"""The graph of a share set whose windows move with every event: events are cut into bursts once for all queries.

The evaluation of windows is in `stacks_numba_fns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.bursts_numba_fns import COEFFICIENTS, NUMBERS, Types
from elsinore.actors.hamlet.graphlets_numba_fns import Members, Sharers
from elsinore.actors.lowering.link_lanes import scratch_of
from elsinore.actors.lowering.moving_windows import (
    coefficients,
    machines_of,
    map_workspace,
    most_places,
    pieces_and_entries,
    results,
)
from elsinore.actors.lowering.sets import Merged, members_of, sharers_of, types_of
from elsinore.actors.members import SetMember
from elsinore.actors.moving.due import DueGraph
from elsinore.actors.moving.stacks_numba_fns import Due, Machines, MovingResults, run_moving
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.time.clock import Clock

STACK_MAPS = 256
"""Initial room of the stack, in maps."""


@dataclass(frozen=True)
class MovingLayout:
    """A share set as the arrays that kernels read."""

    blocks: list[Blocks]
    members: Members
    sharers: Sharers
    types: Types
    merged: Merged
    machines: Machines


class MovingShareGraph(DueGraph):
    """A graph in which the effect of a burst on trends is computed once for all queries."""

    def __init__(
        self, share_set: ShareSet, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool
    ) -> None:
        super().__init__(members, kinds, clock, exact)
        self.kleenes = share_set.kleenes
        self.coefficient_words = 1 if exact else 2
        self.stack = STACK_MAPS
        self._layout: MovingLayout | None = None

    def renew(self) -> None:
        self._layout = None

    def _run(self, events: Events, runs: npt.NDArray[np.int64], due: Due) -> tuple[MovingResults, int]:
        made = self._lay_out()
        blocks, words = made.blocks, made.blocks[0].shape.words
        # One-word numbers have another dtype than longer ones, and coefficients have the dtype of numbers.
        self.coefficient_words = max(self.coefficient_words, min(words, 2))
        after = np.arange(1, len(events.time) + 1)
        after[runs[1:][np.diff(runs) > 0] - 1] = -1
        places = most_places(events, runs, made.types, made.machines)
        fore, rear = (
            coefficients(made.sharers, count, self.coefficient_words, self.exact)
            for count in (places, places if made.machines.rides.any() else 0)
        )
        pieces, entries = pieces_and_entries(int(np.diff(runs).max()))
        found = results(due, blocks)
        stopped = run_moving(
            events, after, runs, self.group_of, due, made.members, made.sharers, made.types,
            made.merged.tables, made.machines, pieces, fore, rear, entries, map_workspace(blocks, self.stack),
            scratch_of(blocks), words, found,
        )  # fmt: skip
        return found, int(stopped)

    def _make_room(self, stopped: int) -> None:
        if stopped == NUMBERS or (stopped == COEFFICIENTS and self.coefficient_words >= self.words):
            # A coefficient that does not fit the words of the numbers has products that do not fit either.
            self.widen()
        elif stopped == COEFFICIENTS:
            self.coefficient_words *= 2
        else:
            self.stack *= 2

    def _lay_out(self) -> MovingLayout:
        """Return the layout, made anew if it was discarded or there are other kinds of events."""
        if self._layout is None or self._layout.members.kinds != len(self.kinds):
            tables, blocks = [member.tables() for member in self.members], self.blocks()
            merged = Merged(tables)
            columns, shapes = [member.reads() for member in self.members], [one.shape for one in blocks]
            self._layout = MovingLayout(
                blocks,
                members_of(blocks, merged, self.kinds),
                sharers_of(self.kleenes, columns, shapes, self.kinds),
                types_of(self.kleenes, self.kinds),
                merged,
                machines_of(self.kleenes, tables, self.within, self.kinds),
            )
        return self._layout
