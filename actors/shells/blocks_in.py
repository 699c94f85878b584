"""Blocks of events from Spark as batches for engines: each engine takes the events of its key groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

KIND, TICKS, ATTRIBUTE, GROUP = "kind", "ticks", "a_", "g_"

NO_TYPE = "*"
"""The type of all events whose types no query names."""

Bounds = tuple[int, int]
"""The first key group of a range, and the first one after it."""

ALL_GROUPS: Bounds = (0, 1 << 15)
"""The range of all key groups that there can be."""


def events_of(blocks: Sequence[bytes]) -> pa.Table:
    """Return the events of several blocks, without a copy."""
    tables = [pa.ipc.open_stream(pa.py_buffer(block)).read_all() for block in blocks]
    return pa.concat_tables(tables, promote_options="default")


def counted(events: pa.Table, types: Sequence[str]) -> dict[str, int]:
    """Count the events of each type that a query names."""
    # Types that no query names have the number -1.
    found = np.bincount(events.column(KIND).to_numpy() + 1, minlength=len(types) + 1)[1:].tolist()
    return {name: number for name, number in zip(types, found, strict=True) if number}


def own_events(events: pa.Table, bounds: Bounds, routes: int) -> tuple[pa.Table, pa.Table]:
    """Return the events that are in one of these key groups along some route, and the times of all others."""
    own = reduce(np.logical_or, (_within(events, route, bounds) for route in range(routes)))
    return _chosen(events, own), _nobodys(events.column(TICKS).to_numpy()[~own], routes)


def times_of(events: pa.Table) -> npt.NDArray[np.int64]:
    """Return the times of events, in ticks."""
    ticks: npt.NDArray[np.int64] = events.column(TICKS).to_numpy()
    return ticks


def _nobodys(ticks: npt.NDArray[np.int64], routes: int) -> pa.Table:
    """Return events with a time alone, that no route takes."""
    nobody = pa.array(np.full(len(ticks), -1, np.int16))
    groups = {f"{GROUP}{route}": nobody for route in range(routes)}
    return pa.table({KIND: nobody, TICKS: pa.array(ticks), **groups})


def block_of(events: pa.Table) -> bytes:
    """Return events as a block, to be stored."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, events.schema) as writer:
        writer.write_table(events)
    return sink.getvalue().to_pybytes()


def batch_of(
    events: pa.Table, route: int, bounds: Bounds, types: Sequence[str], columns: Sequence[str]
) -> pa.RecordBatch:
    """Return the events that are in these key groups along a route: the type as dictionary<int32, string>, the time in
    ticks, then these attributes, with texts as dictionaries."""
    known = [name for name in columns if ATTRIBUTE + name in events.column_names]
    read = events.select([KIND, TICKS, *(ATTRIBUTE + name for name in known)])
    own = _chosen(read, _within(events, route, bounds)).combine_chunks()
    attributes = [_attribute(own, name) for name in columns]
    kinds = _named(_array(own, KIND).to_numpy(), types)
    return pa.RecordBatch.from_arrays([kinds, _array(own, TICKS), *attributes], ["type", "time", *columns])


def _named(kinds: npt.NDArray[np.int16], types: Sequence[str]) -> pa.DictionaryArray:
    codes = kinds.astype(np.int32)
    unnamed = codes < 0
    if not unnamed.any():
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(types, pa.string()))
    codes[unnamed] = len(types)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array([*types, NO_TYPE], pa.string()))


def _within(events: pa.Table, route: int, bounds: Bounds) -> npt.NDArray[np.bool_]:
    groups = events.column(f"{GROUP}{route}").to_numpy()
    return (groups >= bounds[0]) & (groups < bounds[1])


def _chosen(events: pa.Table, wanted: npt.NDArray[np.bool_]) -> pa.Table:
    return events if wanted.all() else events.filter(pa.array(wanted))


def _attribute(table: pa.Table, name: str) -> pa.Array:
    if ATTRIBUTE + name not in table.column_names:
        return pa.nulls(len(table))
    values = _array(table, ATTRIBUTE + name)
    return values.dictionary_encode() if pa.types.is_string(values.type) else values


def _array(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
