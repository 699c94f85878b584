"""Rows as their reader gets them: windows in the reader's own times, and the rows in order.

This module does not know how the rows were made, so a local run and a remote service return them in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.rows.row_columns import Values, arrow, at_places, joined

Columns = Mapping[str, Sequence[str]]
"""The columns of each query's rows: the bounds of its window, grouping attributes, then the items of RETURN."""

BOUNDS = ("window_start", "window_end", "event_start", "event_end", "start", "end")
"""All columns of bounds, in the order in which a table has them."""


def bounds_of(columns: Columns) -> tuple[str, ...]:
    """Return the columns of bounds of any query."""
    names = {name for own in columns.values() for name in own[:2]}
    return tuple(name for name in BOUNDS if name in names)


def table_columns(columns: Columns) -> tuple[str, ...]:
    """Return the columns of a table that holds the rows of all queries."""
    others = (name for own in columns.values() for name in own[2:])
    return tuple(dict.fromkeys(("query", *bounds_of(columns), *others)))


@dataclass(frozen=True)
class Answers:
    """Some rows of one query, column by column."""

    query: str
    columns: Mapping[str, Values]
    """The bounds of the window first, then grouping attributes, then the items of RETURN."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def head(self, count: int) -> Mapping[str, Values]:
        """Return the first rows of all columns."""
        return {name: column[:count] for name, column in self.columns.items()}


MATCHED = ("start", "end")
"""The bounds of matches."""


def ordered(rows: Answers) -> Answers:
    """Sort rows by window, then by group; matches by end, then by start, else they keep the order of their events."""
    found_by_end = tuple(rows.columns)[:2] == MATCHED
    if found_by_end and _are_by_end(rows):
        return rows
    keys = _by_end(rows) if found_by_end else _by_window(rows)
    order = pc.sort_indices(keys, [(name, "ascending") for name in keys.column_names])
    return taken(rows, order)


def _by_window(rows: Answers) -> pa.Table:
    # No two rows of a window have the same group, so Arrow columns after the groups are keys too, but never decide.
    start, _, *others = rows.columns.values()
    keys = [arrow(start), *(column for column in others if isinstance(column, pa.Array))]
    return pa.Table.from_arrays(keys, [str(number) for number in range(len(keys))])


def _by_end(rows: Answers) -> pa.Table:
    start, end, *_ = rows.columns.values()
    return pa.table({"end": arrow(end), "start": arrow(start), "place": np.arange(len(rows))})


def _are_by_end(rows: Answers) -> bool:
    """Return whether matches are in order already, as they are where one engine has found them."""
    start, end = (arrow(rows.columns[name]).to_numpy(zero_copy_only=False) for name in MATCHED)
    later, together = end[1:] > end[:-1], end[1:] == end[:-1]
    return bool(np.all(later | (together & (start[1:] >= start[:-1]))))


def taken(rows: Answers, order: npt.ArrayLike) -> Answers:
    """Return all rows in this order."""
    if np.array_equal(order, np.arange(len(rows))):
        return rows
    order = pa.array(order)
    return Answers(rows.query, {name: at_places(column, order) for name, column in rows.columns.items()})


def united(parts: Sequence[Answers]) -> Answers:
    """Join parts of one query's rows, in order."""
    first = parts[0]
    return ordered(
        Answers(first.query, {name: joined([part.columns[name] for part in parts]) for name in first.columns})
    )
