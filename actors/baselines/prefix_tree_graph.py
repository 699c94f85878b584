"""SHARON's graph of a share set: one counter for every prefix, for all queries with sequences that begin with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks, scratch
from elsinore.actors.algebra.counters_numba_fns import Events, Shape, Tables
from elsinore.actors.baselines.prefix_numba_fns import run_tree
from elsinore.actors.baselines.sequences import Sequences
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.lowering.arrays import column, pointers
from elsinore.actors.lowering.entries import event_tables
from elsinore.actors.lowering.machines import tables
from elsinore.actors.members import SetMember
from elsinore.actors.neighbours.entries_numba_fns import EventTables, Links
from elsinore.actors.neighbours.graph import entry_workspace
from elsinore.actors.rows.cells import Cells
from elsinore.actors.set_graph import MemberCells
from elsinore.actors.windows.window_set import WindowSet
from elsinore.planner.baselines.prefix_tree import Branch, PrefixTree, prefix_tree
from elsinore.planner.machines.predicates import Predicates
from elsinore.planner.plans.model import Counter
from elsinore.planner.time.clock import Clock

Lane = tuple[str, int]
"""A variable of the tree, and the column that is added up or compared for events that it binds."""


@dataclass(frozen=True)
class TreeLayout:
    """A tree as the arrays that the kernel reads."""

    kinds: int
    """The number of kinds of events for which this layout was made."""
    counter: Counter
    single: EventTables
    tables: Tables
    accept_at: Any
    """By member, where its counters of complete trends begin in `accept`."""
    accept: Any
    lanes: list[list[int]]
    """By member, the lanes of the tree that it reads."""
    keys: list[list[int]]
    shape: Shape


class PrefixTreeGraph(WindowSet):
    """The graph of a share set of flattened sequences."""

    def __init__(self, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool) -> None:
        super().__init__(members, kinds, clock, exact)
        self.sequences = [Sequences(member.plan, clock) for member in members]
        self._tree: PrefixTree | None = None
        self._layout: TreeLayout | None = None

    @property
    def tree(self) -> PrefixTree:
        """Return the prefix tree of the sequences at their present lengths."""
        if self._tree is None:
            self._tree = prefix_tree([(one.plan, one.counter) for one in self.sequences])
        return self._tree

    @property
    def layout(self) -> TreeLayout:
        """Return the layout, made anew if it was discarded or there are other kinds of events."""
        if self._layout is None or self._layout.kinds != len(self.kinds):
            self._layout = self._lay_out()
        return self._layout

    def renew(self) -> None:
        self._layout = None

    def evaluate(
        self, start: int, end: int, events: Events, links: Links, runs: npt.NDArray[np.int64], found: MemberCells
    ) -> None:
        # Kinds of single queries have this dtype: with the same one here, the kernel is compiled once.
        events = events._replace(kind=events.kind.astype(np.int16))
        self._stretch(events.kind, runs, start, end)
        while True:
            out, have, flag = self._run(events, links, runs)
            if not flag >> 62:
                break
            self.words *= 2
        shape = out.shape
        numbers = out.numbers.reshape(*have.shape, shape.lanes, shape.words)
        least = out.least.reshape(*have.shape, shape.keys)
        for member, cells in enumerate(found):
            rows = np.flatnonzero(have[member])
            if len(rows):
                lanes, keys = self.layout.lanes[member], self.layout.keys[member]
                own = numbers[member, rows][:, lanes], least[member, rows][:, keys]
                first, last = np.full(len(rows), start), np.full(len(rows), end)
                cells.append(Cells(first, last, rows.astype(np.int32), *own))

    def _stretch(self, kinds: npt.NDArray[Any], runs: npt.NDArray[np.int64], start: int, end: int) -> None:
        classes = np.array(self.kinds.classes, np.int32)
        stretched = [one.stretch(classes[kinds, member], runs, start, end) for member, one in enumerate(self.sequences)]
        if any(stretched):
            self._tree = self._layout = None

    def _run(
        self, events: Events, links: Links, runs: npt.NDArray[np.int64]
    ) -> tuple[Blocks, npt.NDArray[np.bool_], int]:
        """Evaluate one window. (results by member and group, which of them there are, flag)"""
        made = self.layout
        shape = made.shape._replace(words=self.words)
        found = np.zeros((self.count, self.groups), np.bool_)
        out = Blocks.empty(shape._replace(states=1), self.exact, found.size)
        span, workspace = entry_workspace(made.counter, shape, self.exact, made.single, int(np.diff(runs).max()))
        flag = run_tree(
            events, runs, made.tables, made.single, links, shape, workspace, scratch(shape, self.exact), span,
            made.accept_at, made.accept, self.group_of, out.numbers, out.least, found,
        )  # fmt: skip
        return out, found, int(flag)

    def _lay_out(self) -> TreeLayout:
        columns, branches = [member.reads() for member in self.members], self.tree.branches
        machines = [one.counter.machine for one in self.sequences]
        machine = self.tree.machine(machines, self.kinds.classes)
        sums = [_named(branch, own.sums) for branch, own in zip(branches, columns, strict=True)]
        minima = [_named(branch, own.minima) for branch, own in zip(branches, columns, strict=True)]
        lanes, keys = _each_once(sums), _each_once(minima)
        accepting = [
            sorted({branch.places[state] for state in one.accepting})
            for branch, one in zip(branches, machines, strict=True)
        ]
        counter = Counter((0,), (), machine, ())
        made = tables(machine, lanes, [name for name, _ in keys])
        return TreeLayout(
            len(self.kinds),
            counter,
            event_tables(counter, Predicates({}, ())),
            made._replace(least_column=column(number for _, number in keys)[made.least_key]),
            pointers(accepting),
            column(state for one in accepting for state in one),
            [[0, *(1 + lanes.index(lane) for lane in own)] for own in sums],
            [[keys.index(key) for key in own] for own in minima],
            Shape(1, len(machine.states), 1 + len(lanes), len(keys), self.words),
        )


def _named(branch: Branch, own: list[Lane]) -> list[Lane]:
    """Return lanes of a member, with the names that their variables have in the tree."""
    return [(branch.names[variable], number) for variable, number in own]


def _each_once(lanes: list[list[Lane]]) -> list[Lane]:
    return list(dict.fromkeys(lane for own in lanes for lane in own))
