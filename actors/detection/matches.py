"""Matches as columns: numbers of events by variable, over one table of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.detection.order_numba_fns import sort_matches

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]

ABSENT = -1
"""The row of a variable to which no event is bound."""


@dataclass(frozen=True)
class Bound:
    """The events that matches bind to a variable: one row each, or lists of rows."""

    rows: Rows
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

    def flat(self) -> tuple[Ints, Rows]:
        """Return the match and the row of every event that is bound."""
        if self.offsets is None:
            found = np.flatnonzero(self.rows != ABSENT)
            return found, self.rows[found]
        return np.repeat(np.arange(len(self)), self.counts), self.rows

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
    start: Ints
    """The time of the first event."""
    end: Ints
    slot: Rows
    """The partition."""
    bound: Mapping[str, Bound]
    """By variable, in the order of the text."""
    events: pa.RecordBatch
    """The table whose rows are bound: the types, and the attributes by name."""
    times: Ints
    """The times of these events."""

    def __len__(self) -> int:
        return len(self.start)

    def take(self, matches: Ints) -> Matches:
        """Return these matches, in this order."""
        bound = {name: one.take(matches) for name, one in self.bound.items()}
        return replace(self, start=self.start[matches], end=self.end[matches], slot=self.slot[matches], bound=bound)

    def ordered(self) -> Matches:
        """Return the matches in the order of rows: by end, start, then by their events from left to right."""
        if all(one.offsets is None for one in self.bound.values()):
            keys = [one.rows for one in self.bound.values()]
            order = np.lexsort((*reversed(keys), self.start, self.end))
        else:
            order = self._order_of_lists()
        return self.take(order)

    def _order_of_lists(self) -> Ints:
        """Sort by texts of numbers: the events of each variable, and behind each list something less than any event."""
        widths = [one.counts + 1 if one.offsets is not None else np.ones(len(self), np.int64) for one in self.columns]
        offsets = np.concatenate([[0], np.cumsum(np.sum(widths, axis=0))])
        text = np.full(int(offsets[-1]), ABSENT, np.int32)
        at = offsets[:-1].copy()
        for one, width in zip(self.columns, widths, strict=True):
            _, rows = one.flat()
            first = np.repeat(at, one.counts)
            text[first + np.arange(len(rows)) - np.repeat(np.cumsum(one.counts) - one.counts, one.counts)] = rows
            at += width
        order, spare = np.arange(len(self)), np.empty(len(self), np.int64)
        sort_matches(self.end, self.start, offsets, text, order, spare)
        return order

    @property
    def columns(self) -> tuple[Bound, ...]:
        return tuple(self.bound.values())

    def first(self, limit: int, groups: npt.NDArray[np.int32]) -> Matches:
        """Return the first matches of each group (by match) and end; they are in the order of rows."""
        order = np.lexsort((groups, self.end))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(self.end[order]) != 0) | (np.diff(groups[order]) != 0)
        begins = np.flatnonzero(new)
        rank = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
        return self.take(np.sort(order[rank < limit]))


def joined(parts: Sequence[Matches]) -> Matches:
    """Join matches of one query over the same events."""
    if len(parts) == 1:
        return parts[0]
    bound = {name: _joined([part.bound[name] for part in parts]) for name in parts[0].bound}
    start, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end"))
    return replace(parts[0], start=start, end=end, slot=np.concatenate([part.slot for part in parts]), bound=bound)


def _joined(parts: Sequence[Bound]) -> Bound:
    rows = np.concatenate([part.rows for part in parts])
    if parts[0].offsets is None:
        return Bound(rows)
    return Bound(rows, np.concatenate([[0], np.cumsum(np.concatenate([part.counts for part in parts]))]))


def spread(begins: Ints, counts: Ints) -> Ints:
    """Return the places of runs of these lengths, one behind another."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - ends + counts, counts)
