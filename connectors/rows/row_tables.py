"""Rows of many queries as one Arrow table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.connectors.rows.answers import Answers, Columns, bounds_of, ordered, table_columns, taken
from elsinore.connectors.rows.json_values import JSON, NUMBER
from elsinore.connectors.rows.merging import EventOrder, by_events
from elsinore.connectors.rows.row_columns import Values, arrow, joined, whole

if TYPE_CHECKING:
    from elsinore.planner.language.syntax import Query, Workload
    from elsinore.planner.time.clock import Clock


class WindowRows(Protocol):
    """Rows of one query as graph actors return them: columns by name, and bounds of windows in ticks."""

    @property
    def query(self) -> str: ...
    @property
    def window_start(self) -> npt.NDArray[np.int64]: ...
    @property
    def window_end(self) -> npt.NDArray[np.int64]: ...
    @property
    def groups(self) -> dict[str, pa.Array]: ...
    @property
    def values(self) -> dict[str, Any]: ...
    @property
    def order(self) -> EventOrder | None: ...


APPROXIMATE = {b"approximate": b"true"}
NULL = pa.null()

COUNTED = ("event_start", "event_end")
"""The bounds of windows that count events."""


def columns_of(workload: Workload) -> dict[str, tuple[str, ...]]:
    """Return the columns of each query's rows, for a checked workload."""
    return {query.name: (*query.bounds, *query.groups, *_returned(query)) for query in workload.queries}


def _returned(query: Query) -> Iterator[str]:
    """Yield the columns of what a query returns."""
    # A client imports this module, and no planner.
    from elsinore.planner.language.walk import bound, column

    if query.whole_events:
        yield from (column(leaf.variable or leaf.name) for leaf in bound(query.pattern))
    else:
        yield from (item.label for item in query.aggregates)
        yield from (item.label for item in query.items)


def mixed_columns(workload: Workload) -> frozenset[str]:
    """Return the columns that hold an event, or a list of events, of some query, and something else of another."""
    found: dict[str, set[str]] = {}
    for query in workload.queries:
        for name, kind in _kinds(query):
            found.setdefault(name, set()).add(kind)
    return frozenset(name for name, kinds in found.items() if len(kinds) > 1 and kinds != {"values"})


def _kinds(query: Query) -> Iterator[tuple[str, str]]:
    """Yield what each column of a query's rows holds, beside the bounds of windows."""
    from elsinore.planner.language.walk import bound, column, listed

    yield from ((name, "values") for name in query.groups)
    if not query.whole_events:
        yield from ((name, "values") for name in _returned(query))
        return
    lists = listed(query.pattern)
    for leaf in bound(query.pattern):
        yield column(leaf.variable or leaf.name), "lists" if leaf.variable in lists else "events"


def answers(parts: Iterable[WindowRows], columns: Columns, clock: Clock) -> dict[str, Answers]:
    """Return the rows of each query, queries in the order of the workload, rows sorted by window and group."""
    found: dict[str, list[WindowRows]] = {name: [] for name in columns}
    for part in parts:
        found[part.query].append(part)
    return {name: ordered(_merged(some, _shown(some, columns[name], clock))) for name, some in found.items() if some}


def _merged(parts: Sequence[WindowRows], rows: Answers) -> Answers:
    """Return matches in the order of rows, if several engines may have found them; else the rows as they are."""
    orders = [part.order for part in parts if part.order is not None]
    if len(parts) < 2 or len(orders) < len(parts):
        return rows
    start, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("window_start", "window_end"))
    return taken(rows, by_events(start, end, orders))


def _shown(parts: Sequence[WindowRows], columns: Sequence[str], clock: Clock) -> Answers:
    first, (start, end) = parts[0], columns[:2]
    own = clock.of_events() if start in COUNTED else clock
    return Answers(
        first.query,
        {start: _times(np.concatenate([part.window_start for part in parts]), own)}
        | {end: _times(np.concatenate([part.window_end for part in parts]), own)}
        | {name: arrow(joined([part.groups[name] for part in parts])) for name in first.groups}
        | {name: joined([part.values[name] for part in parts]) for name in first.values},
    )


def _times(ticks: npt.NDArray[np.int64], clock: Clock) -> Values:
    """Return ticks in the unit and form of the input; whole units are ints unless the input's times were floats."""
    return whole(clock.show(ticks)) if pa.types.is_integer(clock.form) else clock.show(ticks)


def bounds_type(clock: Clock) -> pa.DataType:
    """Return the type of window bounds, for a table without rows."""
    return clock.show(np.empty(0, np.int64)).type


def table(answers: Collection[Answers], columns: Columns, form: pa.DataType, approximate: bool) -> pa.Table:
    """Return one table: query, window, and every column of any query, null where a row's query does not have it."""
    queries = pa.array([rows.query for rows in answers for _ in range(len(rows))], pa.string())
    bounds = bounds_of(columns)
    fields, arrays = [pa.field("query", queries.type)], [queries]
    for name in table_columns(columns)[1:]:
        parts = [_values(rows, name) for rows in answers]
        arrays.append(_column(parts, _empty(name, form) if name in bounds else NULL))
        meaning = None if name in bounds else _meaning(parts, arrays[-1].type)
        fields.append(pa.field(name, arrays[-1].type, metadata=meaning))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, APPROXIMATE if approximate else None))


def _empty(name: str, form: pa.DataType) -> pa.DataType:
    """Return the type of a column of bounds without values."""
    return pa.int64() if name in COUNTED else form


def _meaning(parts: Sequence[Values], kind: pa.DataType) -> dict[bytes, bytes] | None:
    """Return metadata that marks a text column as numbers with all their digits; None for any other column."""
    numbers = all(isinstance(part, np.ndarray) or part.null_count == len(part) for part in parts)
    return {NUMBER: b"true"} if numbers and pa.types.is_string(kind) else None


def narrowed(rows: pa.Table) -> pa.Table:
    """Return rows without decimal256, which Polars does not read."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_decimal256(field.type):
            rows = rows.set_column(index, field.name, _narrow(rows.column(index)))
    return rows


def _narrow(decimals: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return decimals.cast(pa.decimal128(38, 0))
    except pa.ArrowInvalid:
        return decimals.cast(pa.string())


def late_events(batches: Sequence[pa.RecordBatch], clock: Clock, type_column: str, time_column: str) -> pa.Table:
    """Return events that came behind the watermark, with the user's column names and times."""
    if not batches:
        return pa.table({type_column: pa.array([], pa.string()), time_column: pa.array([], clock.form)})
    own = [type_column, time_column]
    tables = [pa.Table.from_batches([one]).rename_columns([*own, *one.schema.names[2:]]) for one in batches]
    events = pa.concat_tables(tables, promote_options="permissive")
    return events.set_column(1, time_column, clock.show(events.column(1).to_numpy()))


def _values(rows: Answers, name: str) -> Values:
    return rows.columns.get(name, pa.nulls(len(rows)))


def _column(parts: Sequence[Values], form: pa.DataType) -> pa.Array:
    """Concatenate the parts of several queries. Nulls take the type of other parts, or `form` if there is no other."""
    arrays = [arrow(part) for part in parts]
    types = {array.type for array in arrays} - {pa.null()}
    if len(types) > 1:
        some_events = any(pa.types.is_nested(kind) for kind in types)
        return arrow(
            joined([_beside_events(*pair) for pair in zip(parts, arrays, strict=True)] if some_events else parts)
        )
    kind = next(iter(types), form)
    # Arrow spoils lists of structs with a column of nulls when it casts them, be it to their own type.
    return pa.concat_arrays([pa.nulls(0, kind), *(one if one.type == kind else one.cast(kind) for one in arrays)])


def _beside_events(part: Values, array: pa.Array) -> pa.Array:
    """Return values for a column that holds events too; numbers that Arrow has as texts keep their digits in JSON."""
    as_texts = isinstance(part, np.ndarray) and pa.types.is_string(array.type)
    return pa.ExtensionArray.from_storage(JSON, array) if as_texts else array
