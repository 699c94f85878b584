"""What the levels of joins bind: events of leaves, and stored matches, as columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.conditions import Pair
from elsinore.actors.detection.entries import Clocked, Leaf, Leaves
from elsinore.actors.detection.joins.program import Column, JoinProgram
from elsinore.actors.detection.keys import comparable
from elsinore.planner.detection.normal_form import NormalForm

Ints = npt.NDArray[np.int64]
RowNumbers = npt.NDArray[np.int32]


COLUMNS = 4
"""Columns as long as all events for which there is room at first."""


class Arena:
    """Columns of integers, one behind another in one array."""

    def __init__(self, size: int) -> None:
        self.numbers = np.empty(max(size, 1), np.int64)
        self.used = 0

    def put(self, column: npt.NDArray[np.int64] | RowNumbers) -> int:
        """Add a column, and return where it begins."""
        begin = self.used
        self.used += len(column)
        if self.used > len(self.numbers):
            grown = np.empty(2 * self.used, np.int64)
            grown[:begin] = self.numbers[:begin]
            self.numbers = grown
        self.numbers[begin : self.used] = column
        return begin


class Source(Protocol):
    """The entries that a level can bind, sorted by partition and the time of their last event."""

    count: int

    def column(self, column: Column, form: NormalForm, span: int) -> int:
        """Return where a column begins."""
        ...

    def triggers(self, lo: int, hi: int, span: int) -> tuple[Ints, Ints]:
        """Return the entries whose last event is one of the rows from `lo` to `hi`, in that order, with these rows.

        Their first events lie within `span` of their last ones.
        """
        ...


class Joined:
    """The sources of a batch on one clock, and what they read of each other. Equal columns are made once."""

    def __init__(self, leaves: Leaves, clocked: Clocked, columns: int = COLUMNS) -> None:
        """`columns`: how many as long as all events there is room for at first; to grow means to copy."""
        self.leaves = leaves
        self.clocked = clocked
        self.arena = Arena(columns * len(clocked.at))
        self._sources: dict[Leaf, LeafSource] = {}
        self._keys: dict[Hashable, tuple[Ints, Ints]] = {}
        self._begins: dict[Hashable, int] = {}

    def source(self, form: NormalForm, variable: str) -> LeafSource:
        leaf = self.leaves.leaf_of(form, variable, self.clocked.order)
        if leaf not in self._sources:
            self._sources[leaf] = LeafSource(self, leaf)
        return self._sources[leaf]

    def put(self, key: Hashable, column: Callable[[], Ints | RowNumbers]) -> int:
        """Return where a column begins, which is made and added unless one with this key is there."""
        if key not in self._begins:
            self._begins[key] = self.arena.put(column())
        return self._begins[key]

    def keys(self, form: NormalForm, pair: Pair, of_left: bool) -> tuple[Leaf, Ints]:
        """Return a leaf, and the keys of its events as one side of a comparison."""
        readers = (pair.left, pair.right)
        leaves = [self.leaves.leaf_of(form, reader.variable, self.clocked.order) for reader in readers]
        sides = [
            leaf.values(side, form.query.name)
            for leaf, side in zip(leaves, (pair.left_side, pair.right_side), strict=True)
        ]
        key = id(sides[0]), id(sides[1])
        if key not in self._keys:
            self._keys[key] = comparable(sides[0], sides[1], pair.text, form.query.name)
        which = 0 if of_left else 1
        return leaves[which], self._keys[key][which]


class LeafSource:
    """The events of a leaf."""

    def __init__(self, joined: Joined, leaf: Leaf) -> None:
        self.joined = joined
        self.leaf = leaf
        self.count = len(leaf.rows)

    def column(self, column: Column, form: NormalForm, span: int) -> int:
        if column.kind == "key":
            assert column.pair is not None
            _, keys = self.joined.keys(form, column.pair, column.is_left)
            return self.joined.put((self, id(keys)), lambda: keys)
        if column.kind == "row":
            return self.joined.put((self, "row"), lambda: self.leaf.rows)
        return self.joined.put((self, "end"), lambda: self.joined.clocked.at[self.leaf.rows])

    def triggers(self, lo: int, hi: int, span: int) -> tuple[Ints, Ints]:
        return _between(self.leaf.rows, lo, hi)


class MatchSource:
    """Stored matches, by slot the rows of their events."""

    def __init__(self, joined: Joined, rows: RowNumbers, firsts: Sequence[int], lasts: Sequence[int]) -> None:
        """Take in matches whose first event is in one of the slots `firsts`, and the last in one of `lasts`."""
        self.joined = joined
        self.count = len(rows)
        self.firsts, self.lasts = firsts, lasts
        at = joined.clocked.at
        ends = np.maximum.reduce([at[rows[:, slot]] for slot in lasts])
        if np.any(ends[1:] < ends[:-1]):
            order = np.argsort(ends, kind="stable")
            rows, ends = rows[order], ends[order]
        self.rows = rows
        self.ends: Ints = ends

    def column(self, column: Column, form: NormalForm, span: int) -> int:
        if column.kind == "key":
            assert column.pair is not None
            leaf, keys = self.joined.keys(form, column.pair, column.is_left)
            return self.joined.put((self, column.slot, id(keys)), lambda: keys[leaf.places[self.rows[:, column.slot]]])
        key = (self, column.kind, column.slot, span if column.kind == "start" else 0)
        return self.joined.put(key, lambda: self._made(column, span))

    def _made(self, column: Column, span: int) -> Ints | RowNumbers:
        match column.kind:
            case "end":
                return self.ends
            case "row":
                return self.rows[:, column.slot]
            case "start":
                return self.starts + (span - 1)
        found: Ints = self.joined.clocked.at[self.rows[:, column.slot]]
        return found

    @cached_property
    def starts(self) -> Ints:
        """Return the time of each match's first event."""
        at = self.joined.clocked.at
        return np.minimum.reduce([at[self.rows[:, slot]] for slot in self.firsts])

    def triggers(self, lo: int, hi: int, span: int) -> tuple[Ints, Ints]:
        last = np.maximum.reduce([self.rows[:, slot] for slot in self.lasts]).astype(np.int64)
        found, rows = _between(last, lo, hi)
        near = self.ends[found] - self.starts[found] < span
        return (found, rows) if near.all() else (found[near], rows[near])


def _between(rows: Ints, lo: int, hi: int) -> tuple[Ints, Ints]:
    """Return the places of rows from `lo` to `hi`, in the order of the rows, and these rows."""
    if np.all(rows[1:] >= rows[:-1]):
        first, end = np.searchsorted(rows, [lo, hi])
        return np.arange(first, end), rows[first:end]
    found = np.flatnonzero((rows >= lo) & (rows < hi))
    found = found[np.argsort(rows[found], kind="stable")]
    return found, rows[found]


def bases(program: JoinProgram, sources: Sequence[Source], form: NormalForm) -> Ints:
    """Return where each column of a program begins."""
    span = program.join.span
    return np.array([sources[one.level].column(one, form, span) for one in program.columns], np.int64)
