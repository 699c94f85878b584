"""Matches as rows: a column per variable, or one per item.

A whole event is a row of one table of events, which columns refer to by number: an Arrow dictionary. Its events become
structs when the rows are read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.detection.items import item_columns
from elsinore.actors.detection.matches import ABSENT, Bound, Matches, texts
from elsinore.actors.rows.event_order import EventOrder
from elsinore.actors.rows.partial_rows import LISTED, PartialAggregate, PartialRows
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.language.syntax import EventColumns, Query
from elsinore.planner.language.walk import column as column_of
from elsinore.planner.time.clock import Clock

Ints = npt.NDArray[np.int64]

TICKS = "\0ticks"
"""The column of the times of events in batches whose clock counts events."""

ARRIVAL = "\0arrival"
"""The column of numbers of events by which those of one time are in the order of their arrival, whoever has them."""

NO_NUMBER = -1

NO_COLUMNS = EventColumns("type", "time", ())


def match_rows(
    matches: Matches, query: Query, partitions: Partitions, clock: Clock, merged: bool = False
) -> PartialRows:
    """Return matches as rows; `clock` is that of the user's times. `merged`: whether they are merged with others."""
    ticks = ticks_of(matches)
    groups = partitions.group_columns(partitions.group_of[matches.slot])
    values = item_columns(matches, query.items) if query.items else dict(_variables(matches, query, ticks, clock))
    parts = {name: PartialAggregate(LISTED, column) for name, column in values.items()}
    order = _order(matches, ticks) if merged and ARRIVAL in matches.events.schema.names else None
    return PartialRows(query.name, ticks[matches.first], ticks[matches.last], groups, parts, order)


def _order(matches: Matches, ticks: Ints) -> EventOrder:
    """Return what the matches are compared by with those of other engines."""
    used, numbered = _numbered(matches)
    offsets, numbers = texts(tuple(numbered.values()))
    # Events from before they were numbered have no number.
    arrivals = matches.events.column(ARRIVAL).take(pa.array(used)).fill_null(NO_NUMBER).to_numpy()
    return EventOrder(offsets.astype(np.int32), numbers, ticks[used], arrivals)


def ticks_of(matches: Matches) -> Ints:
    """Return the times of the events, which are not those of `matches` where its clock counts events."""
    if TICKS in matches.events.schema.names:
        ticks: Ints = matches.events.column(TICKS).to_numpy()
        return ticks
    return matches.times


def _variables(matches: Matches, query: Query, ticks: Ints, clock: Clock) -> Iterator[tuple[str, pa.Array]]:
    used, numbered = _numbered(matches)
    events = _events(matches, query, ticks, clock, used)
    for name, bound in numbered.items():
        yield column_of(name), _referring(bound, events)


def _numbered(matches: Matches) -> tuple[Ints, dict[str, Bound]]:
    """Return the rows of the events that are bound, and the columns with these rows numbered anew."""
    rows = np.concatenate([bound.rows for bound in matches.bound.values()])
    used, places = np.unique(rows[rows != ABSENT], return_inverse=True)
    numbers = np.full(len(rows), ABSENT, np.int32)
    numbers[rows != ABSENT] = places
    ends = np.cumsum([len(bound.rows) for bound in matches.bound.values()])
    parts = np.split(numbers, ends[:-1])
    return used, {
        name: Bound(part, bound.offsets) for (name, bound), part in zip(matches.bound.items(), parts, strict=True)
    }


def _events(matches: Matches, query: Query, ticks: Ints, clock: Clock, used: Ints) -> pa.StructArray:
    """Return these events with the user's names."""
    assert not isinstance(query.returns, tuple)
    columns, rows = query.returns.events or NO_COLUMNS, pa.array(used)
    types = matches.events.column(0).take(rows).dictionary_decode()
    attributes = [_plain(matches.column(name).take(rows)) for name in columns.attributes]
    return pa.StructArray.from_arrays(
        [types, clock.show(ticks[used]), *attributes], [columns.type, columns.time, *columns.attributes]
    )


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _referring(bound: Bound, events: pa.StructArray) -> pa.Array:
    """Return the events of a variable by reference: one by match, or a list."""
    mask = bound.rows == ABSENT if bound.offsets is None else None
    references = pa.DictionaryArray.from_arrays(pa.array(bound.rows, mask=mask), events)
    if bound.offsets is None:
        return references
    return pa.ListArray.from_arrays(pa.array(bound.offsets.astype(np.int32)), references)
