"""Rows as their reader gets them: windows in the reader's own times, and the rows in order.

This module does not know how the rows were made, so a local run and a remote service return them in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.rows.row_columns import Values, arrow, at_places, joined

Columns = Mapping[str, tuple[str, ...]]
"""The columns of each query's rows after the window: grouping attributes, then the items of RETURN."""


@dataclass(frozen=True)
class Answers:
    """Some rows of one query, column by column."""

    query: str
    window_start: Values
    window_end: Values
    columns: Mapping[str, Values]
    """Grouping attributes first, then the items of RETURN."""

    def __len__(self) -> int:
        return len(self.window_start)

    def head(self, count: int) -> Mapping[str, Values]:
        """Return the first rows of all columns."""
        columns = {"window_start": self.window_start, "window_end": self.window_end, **self.columns}
        return {name: column[:count] for name, column in columns.items()}


def ordered(rows: Answers) -> Answers:
    """Sort rows by window, then by group."""
    # No two rows of a window have the same group, so Arrow columns after the groups are keys too, but never decide.
    keys = [arrow(rows.window_start), *(column for column in rows.columns.values() if isinstance(column, pa.Array))]
    names = [str(number) for number in range(len(keys))]
    order = pc.sort_indices(pa.Table.from_arrays(keys, names), [(name, "ascending") for name in names])
    if np.array_equal(order, np.arange(len(order))):
        return rows
    return Answers(
        rows.query,
        at_places(rows.window_start, order),
        at_places(rows.window_end, order),
        {name: at_places(column, order) for name, column in rows.columns.items()},
    )


def united(parts: Sequence[Answers]) -> Answers:
    """Join parts of one query's rows, in order."""
    return ordered(
        Answers(
            parts[0].query,
            joined([part.window_start for part in parts]),
            joined([part.window_end for part in parts]),
            {name: joined([part.columns[name] for part in parts]) for name in parts[0].columns},
        )
    )
