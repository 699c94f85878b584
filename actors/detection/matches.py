"""Matches as columns: numbers of events by variable, over one table of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.detection.order_numba_fns import are_sorted, sort_runs

Ints = npt.NDArray[np.int64]
RowNumbers = npt.NDArray[np.int32]

ABSENT = -1
"""The row of a variable to which no event is bound."""

ABSENT_ROW, LATEST = np.int32(ABSENT), np.int32(2**31 - 1)
"""Rows before and after all others."""


@dataclass(frozen=True)
class Bound:
    """The events that matches bind to a variable: one row each, or lists of rows."""

    rows: RowNumbers
    offsets: Ints | None = None
    """Where the list of each match begins, and the end of the last; None where a match binds one event, or ABSENT."""

    def __len__(self) -> int:
        return len(self.rows) if self.offsets is None else len(self.offsets) - 1

    @property
    def counts(self) -> Ints:
        """Return the number of events by match."""
        if self.offsets is None:
            return (self.rows != ABSENT).astype(np.int64)
        return np.diff(self.offsets)

    @property
    def begins(self) -> Ints:
        """Return where the events of each match begin."""
        return np.arange(len(self.rows)) if self.offsets is None else self.offsets[:-1]

    def flat(self) -> tuple[Ints, RowNumbers]:
        """Return the match and the row of every event that is bound."""
        if self.offsets is None:
            found = np.flatnonzero(self.rows != ABSENT)
            return found, self.rows[found]
        return np.repeat(np.arange(len(self)), self.counts), self.rows

    def least(self) -> RowNumbers:
        """Return the first row of each match; where there is none, one that is greater than any."""
        if self.offsets is None:
            return np.where(self.rows == ABSENT, LATEST, self.rows)
        rows = np.append(self.rows, LATEST)[self.offsets[:-1]]
        return np.where(self.counts > 0, rows, LATEST)

    def greatest(self) -> RowNumbers:
        """Return the last row of each match; ABSENT where there is none."""
        if self.offsets is None:
            return self.rows
        rows = np.append(self.rows, ABSENT_ROW)[self.offsets[1:] - 1]
        return np.where(self.counts > 0, rows, ABSENT_ROW)

    def cut(self, lo: int, hi: int) -> Bound:
        if self.offsets is None:
            return Bound(self.rows[lo:hi])
        at = self.offsets[lo : hi + 1]
        return Bound(self.rows[at[0] : at[-1]], at - at[0])

    def take(self, matches: Ints) -> Bound:
        if self.offsets is None:
            return Bound(self.rows[matches])
        counts = self.counts[matches]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return Bound(self.rows[spread(self.offsets[matches], counts)], offsets)


@dataclass(frozen=True)
class Matches:
    """Matches of one query."""

    query: str
    bound: Mapping[str, Bound]
    """By variable, in the order of the text."""
    events: pa.RecordBatch
    """The table whose rows are bound, in the order of time: the types, and the attributes by name."""
    times: Ints
    """The times of these events."""
    slots: RowNumbers
    """The partitions of these events."""
    extremes: tuple[str, str] | None = None
    """The variables with the first and the last event of each match, where these are known."""
    ascending: bool = False
    """Whether they are in the order of their last events."""
    table: npt.NDArray[np.int32] | None = None
    """The rows that are bound, by match and variable, where these are columns of one table."""

    def __len__(self) -> int:
        return len(next(iter(self.bound.values())))

    def column(self, attribute: str) -> pa.Array:
        """Return an attribute of the events; one may have the name of the column of types."""
        return self.events.column(self.events.schema.names.index(attribute, 1))

    @cached_property
    def first(self) -> RowNumbers:
        """Return the row of each match's first event."""
        if self.extremes:
            return self.bound[self.extremes[0]].rows
        return np.minimum.reduce([one.least() for one in self.bound.values()])

    @cached_property
    def last(self) -> RowNumbers:
        if self.extremes:
            return self.bound[self.extremes[1]].rows
        return np.maximum.reduce([one.greatest() for one in self.bound.values()])

    @cached_property
    def start(self) -> Ints:
        """Return the time of each match's first event."""
        return self.times[self.first]

    @cached_property
    def end(self) -> Ints:
        return self.times[self.last]

    @property
    def slot(self) -> RowNumbers:
        """Return the partition of each match."""
        return self.slots[self.last]

    def take(self, matches: Ints) -> Matches:
        """Return these matches, in this order."""
        bound = {name: one.take(matches) for name, one in self.bound.items()}
        return replace(self, bound=bound, ascending=False, table=None)

    def cut(self, lo: int, hi: int) -> Matches:
        table = None if self.table is None else self.table[lo:hi]
        return replace(self, bound={name: one.cut(lo, hi) for name, one in self.bound.items()}, table=table)

    def parted(self, time: int) -> tuple[Matches, Matches]:
        """Return the matches that end before a time, and the others."""
        row = int(np.searchsorted(self.times, time))
        if self.ascending:
            count = int(np.searchsorted(self.last, row))
            return self.cut(0, count), self.cut(count, len(self))
        done = self.last < row
        if done.all():
            return self, self.cut(0, 0)
        return self.take(np.flatnonzero(done)), self.take(np.flatnonzero(~done))

    def ordered(self) -> Matches:
        """Return the matches in the order of rows: by end, start, then by their events from left to right."""
        columns = tuple(self.bound.values())
        if any(one.offsets is not None for one in columns):
            return self.take(self._order_of_lists(columns))
        if self.table is not None and self.ascending:
            if are_sorted(self.times, self.first, self.last, self.table):
                return self
            offsets = np.arange(len(self) + 1) * self.table.shape[1]
            return self.take(self._sorted_runs(np.arange(len(self)), offsets, np.ascontiguousarray(self.table).ravel()))
        keys: list[npt.NDArray[Any]] = [self.end, self.start, *(one.rows for one in columns)]
        return self.take(np.lexsort(keys[::-1]))

    def _sorted_runs(self, order: Ints, offsets: Ints, text: npt.NDArray[np.int32]) -> Ints:
        """Sort an order by ends further, by start and `text[offsets[m] : offsets[m + 1]]`."""
        sort_runs(self.end, self.start, offsets, text, order, np.empty(len(self), np.int64))
        return order

    def _order_of_lists(self, columns: Sequence[Bound]) -> Ints:
        offsets, text = texts(columns)
        return self._sorted_runs(np.argsort(self.end, kind="stable"), offsets, text)

    def limited(self, limit: int, groups: npt.NDArray[np.int32]) -> Matches:
        """Return the first matches of each end and group (by match); they are in the order of rows."""
        order = np.lexsort((groups, self.end))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(self.end[order]) != 0) | (np.diff(groups[order]) != 0)
        begins = np.flatnonzero(new)
        rank = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
        return self.take(np.sort(order[rank < limit]))


def texts(columns: Sequence[Bound]) -> tuple[Ints, RowNumbers]:
    """Return the numbers by which matches are compared, and where those of each begin: the events of each variable, and
    behind each list something less than any event."""
    widths = [one.counts + 1 if one.offsets is not None else np.ones(len(one), np.int64) for one in columns]
    offsets = np.concatenate([[0], np.cumsum(np.sum(widths, axis=0))])
    text = np.full(int(offsets[-1]), ABSENT, np.int32)
    at = offsets[:-1].copy()
    for one, width in zip(columns, widths, strict=True):
        _, rows = one.flat()
        text[spread(at, one.counts)] = rows
        at += width
    return offsets, text


def joined(parts: Sequence[Matches]) -> Matches:
    """Join matches of one query over the same events."""
    if len(parts) == 1:
        return parts[0]
    tables = [part.table for part in parts if part.table is not None]
    if len(tables) == len(parts):
        table = np.concatenate(tables)
        bound = {name: Bound(table[:, column]) for column, name in enumerate(parts[0].bound)}
        return replace(parts[0], bound=bound, ascending=_in_turn(parts), table=table)
    bound = {name: _joined([part.bound[name] for part in parts]) for name in parts[0].bound}
    return replace(parts[0], bound=bound, ascending=_in_turn(parts), table=None)


def _in_turn(parts: Sequence[Matches]) -> bool:
    """Return whether matches one part behind another are in the order of their last events."""
    rising = all(one.last[-1] <= other.last[0] for one, other in pairwise(parts))
    return rising and all(part.ascending for part in parts)


def _joined(parts: Sequence[Bound]) -> Bound:
    rows = np.concatenate([part.rows for part in parts])
    if parts[0].offsets is None:
        return Bound(rows)
    return Bound(rows, np.concatenate([[0], np.cumsum(np.concatenate([part.counts for part in parts]))]))


def spread(begins: Ints, counts: Ints) -> Ints:
    """Return the places of runs of these lengths, one behind another."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - ends + counts, counts)
