"""Partial aggregates: the results of other partitions of a group, from other actors, are still to be added.

Numbers are added in the form in which they were counted, as integers in units of a power of two. So results do not
depend on how partitions are spread over actors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.rows.event_order import EventOrder
from elsinore.actors.rows.rows import Column, Rows
from elsinore.actors.rows.values import added, each, ratio, without_null
from elsinore.calendar_years import in_order

LARGEST = 2**63 - 1

WHOLE = "whole"
"""In place of a function: the aggregate is complete."""

LISTED = "listed"
"""In place of a function: rows are matches, each of which is a row of its own."""


@dataclass(frozen=True)
class PartialAggregate:
    """A column of one aggregate over some of the trends."""

    function: str
    totals: Column
    """Numbers to be added, in units of 2**power; for MIN and MAX the values, null where there is none."""
    over: npt.NDArray[Any] | None = None
    """For SUM and AVG: the number of values."""
    power: int = 0
    floating: bool = False

    def finished(self) -> Column:
        """Return the aggregate, given that nothing is to be added."""
        if self.over is None:
            return self.totals
        if self.function == "AVG":
            return each(lambda total, count: ratio(total, count, self.power), self.totals, self.over)
        if not self.floating:
            return without_null(self.totals, self.over)
        return each(lambda total, _: ratio(total, 1, self.power), self.totals, self.over)

    def taken(self, rows: npt.NDArray[np.int64]) -> PartialAggregate:
        """Return the column of these rows alone."""
        totals = self.totals.take(pa.array(rows)) if isinstance(self.totals, pa.Array) else self.totals[rows]
        return replace(self, totals=totals, over=None if self.over is None else self.over[rows])


@dataclass(frozen=True)
class PartialRows:
    """Rows like `Rows`, whose aggregates are partial."""

    query: str
    window_start: npt.NDArray[np.int64]
    window_end: npt.NDArray[np.int64]
    groups: dict[str, pa.Array]
    values: dict[str, PartialAggregate]
    order: EventOrder | None = None
    """As in `Rows`."""

    def __len__(self) -> int:
        return len(self.window_start)

    @classmethod
    def whole(cls, rows: Rows) -> PartialRows:
        """Create rows whose aggregates are complete."""
        parts = {name: PartialAggregate(WHOLE, column) for name, column in rows.values.items()}
        return cls(rows.query, rows.window_start, rows.window_end, rows.groups, parts)

    def finished(self) -> Rows:
        values = {name: part.finished() for name, part in self.values.items()}
        return Rows(self.query, self.window_start, self.window_end, self.groups, values, self.order)

    def begun(self, since: int, until: int) -> PartialRows:
        """Return the rows of windows that begin at `since` or later and before `until`."""
        inside = (self.window_start >= since) & (self.window_start < until)
        return self if inside.all() else self.take(np.flatnonzero(inside))

    def since(self, number: int) -> PartialRows:
        """Return the rows from a number on."""
        return self.take(np.arange(number, len(self))) if number else self

    def take(self, rows: npt.NDArray[np.int64]) -> PartialRows:
        """Return these rows."""
        return PartialRows(
            self.query,
            self.window_start[rows],
            self.window_end[rows],
            {name: column.take(pa.array(rows)) for name, column in self.groups.items()},
            {name: part.taken(rows) for name, part in self.values.items()},
            None if self.order is None else self.order.take(rows),
        )


def united(found: Sequence[PartialRows]) -> list[PartialRows]:
    """Return rows of one query from several actors: matches as they are, aggregates merged."""
    listed = any(part.function == LISTED for part in found[0].values.values())
    return list(found) if listed else [merged(found)]


def merged(found: Sequence[PartialRows]) -> PartialRows:
    """Merge rows of one query from several actors: rows of the same window and group become one."""
    first = found[0]
    if len(found) == 1:
        return first
    starts = np.concatenate([rows.window_start for rows in found])
    ends = np.concatenate([rows.window_end for rows in found])
    groups = {name: concatenated([rows.groups[name] for rows in found]) for name in first.groups}
    order, at = _same([starts, ends, *map(_codes, groups.values())])
    heads = order[at]
    return PartialRows(
        first.query,
        starts[heads],
        ends[heads],
        {name: column.take(pa.array(heads)) for name, column in groups.items()},
        {name: _added([rows.values[name] for rows in found], order, at) for name in first.values},
    )


def _same(keys: Sequence[npt.NDArray[np.int64]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return an order in which rows of equal keys are adjacent, and where each run of equal keys begins."""
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    return order, np.flatnonzero(new)


def _codes(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return equal numbers for equal values; attributes of groups have no nulls."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes: npt.NDArray[np.int64] = coded.indices.to_numpy().astype(np.int64)
    return codes


def concatenated(columns: Sequence[pa.Array]) -> pa.Array:
    """Concatenate columns to one array, of a type that holds the values of all."""
    tables = [pa.table({"": column}) for column in columns]
    whole = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().column(0)
    return whole.combine_chunks() if whole.num_chunks != 1 else whole.chunk(0)


def _added(
    parts: Sequence[PartialAggregate], order: npt.NDArray[np.int64], at: npt.NDArray[np.int64]
) -> PartialAggregate:
    first = parts[0]
    if first.function == WHOLE:
        return PartialAggregate(WHOLE, _together([part.totals for part in parts])).taken(order)
    if first.function in ("MIN", "MAX"):
        return PartialAggregate(first.function, _extremes(first.function, [part.totals for part in parts], order, at))
    power = min(part.power for part in parts)
    totals = _joined([_scaled(part.totals, part.power - power) for part in parts])
    over = None if first.over is None else _sums(_joined([_counts(part) for part in parts]), order, at)
    return PartialAggregate(first.function, _sums(totals, order, at), over, power, any(part.floating for part in parts))


def _together(columns: Sequence[Column]) -> Column:
    if not any(isinstance(column, pa.Array) for column in columns):
        return _joined(columns)
    return concatenated([column if isinstance(column, pa.Array) else pa.array(column) for column in columns])


def _counts(part: PartialAggregate) -> npt.NDArray[Any]:
    assert part.over is not None
    return part.over


def _scaled(totals: Any, by: int) -> npt.NDArray[Any]:
    return totals.astype(object) << by if by else totals


def _joined(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(
        columns if len({column.dtype for column in columns}) == 1 else [c.astype(object) for c in columns]
    )


def _sums(column: npt.NDArray[Any], order: npt.NDArray[np.int64], at: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return the sums of runs, as integers of any size or decimals where needed."""
    if len(at) == len(column):
        return column[order]
    if column.dtype == np.int64 and len(column) * max(abs(int(column.min())), abs(int(column.max()))) > LARGEST:
        column = column.astype(object)
    if column.dtype != object:
        with np.errstate(over="ignore"):
            sums: npt.NDArray[Any] = np.add.reduceat(column[order], at)
        if np.isfinite(sums).all():
            return sums
    large = np.empty(len(at), object)
    large[:] = [added(run.tolist()) for run in np.split(column[order], at[1:])]
    return large


def _of_kind(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return what `in_order` gave as a column again."""
    if not pa.types.is_temporal(kind) or pa.types.is_interval(kind):
        return pa.array(values, kind)
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)


def _extremes(
    function: str, columns: Sequence[Column], order: npt.NDArray[np.int64], at: npt.NDArray[np.int64]
) -> Column:
    if all(isinstance(column, np.ndarray) and column.dtype != object for column in columns):
        joined = np.concatenate(columns)
        return (np.minimum if function == "MIN" else np.maximum).reduceat(joined[order], at)
    if all(isinstance(column, pa.Array) for column in columns):
        columns = [concatenated(columns)]
    lists = [in_order(column) if isinstance(column, pa.Array) else column.tolist() for column in columns]
    listed = list(chain.from_iterable(lists))
    best = min if function == "MIN" else max
    runs = np.split(order, at[1:])
    found = [best((listed[i] for i in run if listed[i] is not None), default=None) for run in runs]
    kinds = [column.type for column in columns if isinstance(column, pa.Array)]
    if kinds:
        return _of_kind(found, kinds[0])
    values = np.empty(len(found), object)
    values[:] = found
    return values
