"""Items of RETURN MATCHES: flat columns in place of whole events."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from elsinore.actors.columns.expressions import Values
from elsinore.actors.detection.matches import ABSENT, Bound, Matches
from elsinore.actors.detection.summaries import summary
from elsinore.actors.rows.rows import Column
from elsinore.planner.language.syntax import Attribute, Item


def item_columns(matches: Matches, items: Iterable[Item]) -> dict[str, Column]:
    """Return the column of each item, by its label."""
    return {item.label: _column(matches, item) for item in items}


def _column(matches: Matches, item: Item) -> Column:
    if isinstance(item.value, Attribute):
        return attribute(matches.bound[item.value.variable], matches.column(item.value.name))
    return _plain(summary(matches, item.value))


def attribute(bound: Bound, column: pa.Array) -> pa.Array:
    """Return the values of an attribute in the events that are bound: one by match, or a list."""
    if bound.offsets is None:
        absent = bound.rows == ABSENT
        return column.take(pa.array(np.where(absent, 0, bound.rows), mask=absent))
    return pa.ListArray.from_arrays(pa.array(bound.offsets.astype(np.int32)), column.take(pa.array(bound.rows)))


def _plain(values: Values) -> Column:
    """Return values as columns of rows are: numbers as NumPy has them, None for null."""
    if not values.numeric or values.valid.all():
        return values.data
    return np.where(values.valid, values.data.astype(object), np.array(None))
