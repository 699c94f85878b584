"""Blocks of events from Spark as batches for engines: each engine takes the events of its key groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.detection.match_rows import ARRIVAL

KIND, TICKS, ATTRIBUTE, GROUP = "kind", "ticks", "a_", "g_"

READ, ARRIVED = "n_", "n"
"""Columns of the numbers of events by arrival: as Spark gives them, and as they are comparable with other batches."""

PARTITION_BITS, ROW_BITS = 15, 28
"""Bits of the numbers of a partition and of an event in it; a block has 2**31 bytes at most."""

SPARK_ROW_BITS = 33
"""Bits of the number of an event in Spark's `monotonically_increasing_id`; that of its partition comes before them."""

NO_TYPE = "*"
"""The type of all events whose types no query names."""

Ints = npt.NDArray[np.int64]

Bounds = tuple[int, int]
"""The first key group of a range, and the first one after it."""

ALL_GROUPS: Bounds = (0, 1 << 15)
"""The range of all key groups that there can be."""


UNTAKEN = (1 << 16) - 1
"""The key group -1 as a number without a sign."""


def events_of(blocks: Sequence[bytes]) -> tuple[pa.Table, Ints]:
    """Return the events of several blocks, without a copy, and the times of all events of the stream, in ticks.

    Where some blocks are of times alone, these are all times of the stream; otherwise those of the events are.
    """
    tables = [pa.ipc.open_stream(pa.py_buffer(block)).read_all() for block in blocks]
    events = pa.concat_tables([one for one in tables if KIND in one.column_names], promote_options="default")
    timed = [one.column(TICKS) for one in tables if KIND not in one.column_names]
    times: Ints = np.concatenate([one.to_numpy() for one in timed or [events.column(TICKS)]])
    return events, times


def numbered(events: pa.Table, batch: int | None) -> pa.Table:
    """Return events with numbers by arrival that are comparable with those of other batches.

    `batch`: the number of the batch if Spark has numbered its events alone, which is repeated after a million batches.
    """
    if READ not in events.column_names:
        return events
    found = events.column(READ).to_numpy()
    if batch is not None:
        partitions, rows = found >> SPARK_ROW_BITS, found & ((1 << SPARK_ROW_BITS) - 1)
        before = batch % (1 << (63 - PARTITION_BITS - ROW_BITS))
        found = (((before << PARTITION_BITS) + partitions) << ROW_BITS) + rows
    return events.set_column(events.column_names.index(READ), ARRIVED, pa.array(found))


def times_block(times: Ints) -> pa.Buffer:
    """Return a block of times alone."""
    return buffer_of(pa.table({TICKS: times}))


def counted(events: pa.Table, bounds: Bounds, routes: int, types: Sequence[str]) -> dict[str, int]:
    """Count the events of each type that a query names, if this is the place to count them.

    An event is counted at the first place that owns it along some route, and at the first of all if none takes it.
    """
    groups = np.stack([events.column(f"{GROUP}{route}").to_numpy() for route in range(routes)]).astype(np.uint16)
    # Group -1 has become the largest number.
    first = groups.min(axis=0)
    here = (first >= bounds[0]) & (first < bounds[1])
    if bounds[0] == 0:
        here |= first == UNTAKEN
    # Types that no query names have the number -1.
    found = np.bincount(events.column(KIND).to_numpy()[here] + 1, minlength=len(types) + 1)[1:].tolist()
    return {name: number for name, number in zip(types, found, strict=True) if number}


def own_events(events: pa.Table, bounds: Bounds, routes: int) -> pa.Table:
    """Return the events that are in one of these key groups along some route."""
    return _chosen(events, reduce(np.logical_or, (_within(events, route, bounds) for route in range(routes))))


def buffer_of(events: pa.Table) -> pa.Buffer:
    """Return events as a block, to be stored or handed on: Ray shares a buffer without copies."""
    size = pa.MockOutputStream()
    _write(events, size)
    # A buffer that grows would be copied several times.
    block = pa.allocate_buffer(size.size())
    _write(events, pa.FixedSizeBufferWriter(block))
    return block


def _write(events: pa.Table, sink: pa.NativeFile) -> None:
    with pa.ipc.new_stream(sink, events.schema) as writer:
        writer.write_table(events)


def batch_of(
    events: pa.Table, route: int, bounds: Bounds, types: Sequence[str], columns: Sequence[str]
) -> pa.RecordBatch:
    """Return the events that are in these key groups along a route: the type as dictionary<int32, string>, the time in
    ticks, then these attributes, with texts as dictionaries."""
    known = [name for name in columns if ATTRIBUTE + name in events.column_names]
    arrived = [ARRIVED] if ARRIVED in events.column_names else []
    read = events.select([KIND, TICKS, *(ATTRIBUTE + name for name in known), *arrived])
    own = _by_arrival(_chosen(read, _within(events, route, bounds))).combine_chunks()
    attributes = [*(_attribute(own, name) for name in columns), *(_array(own, name) for name in arrived)]
    kinds = _named(_array(own, KIND).to_numpy(), types)
    names = ["type", "time", *columns, *(ARRIVAL for _ in arrived)]
    return pa.RecordBatch.from_arrays([kinds, _array(own, TICKS), *attributes], names)


def _by_arrival(events: pa.Table) -> pa.Table:
    """Return events in an order in which those of one time are by arrival, where numbers tell it."""
    if ARRIVED not in events.column_names or len(events) < 2:
        return events
    times, numbers = events.column(TICKS).to_numpy(), events.column(ARRIVED).to_numpy()
    later = numbers[1:] >= numbers[:-1]
    if later.all() or np.all((times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & later)):
        return events
    return events.take(pa.array(np.lexsort((numbers, times))))


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
