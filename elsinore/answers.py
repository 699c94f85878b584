"""Rows as their reader has them: windows in the reader's own times, put in order.

Nothing of what made the rows is known here, so a run, and a service far away, answer alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from elsinore.columns import Values, arrow, joined, taken

Columns = Mapping[str, tuple[str, ...]]
"""The columns of each query's rows behind the window: grouping attributes, then the items of RETURN."""


@dataclass(frozen=True)
class Answers:
    """Some rows of one query, column by column."""

    query: str
    window_start: Values
    window_end: Values
    groups: Mapping[str, pa.Array]
    values: Mapping[str, Values]

    def __len__(self) -> int:
        return len(self.window_start)

    def head(self, count: int) -> Mapping[str, Values]:
        """The columns that a window and its values have, of the first rows."""
        columns = {"window_start": self.window_start, "window_end": self.window_end, **self.groups, **self.values}
        return {name: column[:count] for name, column in columns.items()}


def ordered(rows: Answers) -> Answers:
    """By window, then by group."""
    keys = [arrow(rows.window_start), *rows.groups.values()]
    names = [str(number) for number in range(len(keys))]
    order = pc.sort_indices(pa.Table.from_arrays(keys, names), [(name, "ascending") for name in names])
    return Answers(
        rows.query,
        taken(rows.window_start, order),
        taken(rows.window_end, order),
        {name: column.take(order) for name, column in rows.groups.items()},
        {name: taken(column, order) for name, column in rows.values.items()},
    )


def united(parts: Sequence[Answers]) -> Answers:
    """Parts of one query's rows as one, in order."""
    first = parts[0]
    return ordered(
        Answers(
            first.query,
            joined([part.window_start for part in parts]),
            joined([part.window_end for part in parts]),
            {name: arrow(joined([part.groups[name] for part in parts])) for name in first.groups},
            {name: joined([part.values[name] for part in parts]) for name in first.values},
        )
    )
