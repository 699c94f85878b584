"""Blocks of events as they come from Spark, as batches for an engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

KIND, TICKS, ATTRIBUTE = "kind", "ticks", "a_"

NO_TYPE = "*"
"""Of all events whose types no query names."""


def batch_of(block: bytes, types: Sequence[str], columns: Sequence[str]) -> pa.RecordBatch:
    """The type as dictionary<int32, string>, the time in ticks, then these attributes; texts as dictionaries."""
    table = pa.ipc.open_stream(pa.py_buffer(block)).read_all().combine_chunks()
    kinds = _array(table, KIND).to_numpy().astype(np.int32)
    kinds[kinds < 0] = len(types)
    named = pa.DictionaryArray.from_arrays(pa.array(kinds), pa.array([*types, NO_TYPE], pa.string()))
    attributes = [_attribute(table, name) for name in columns]
    return pa.RecordBatch.from_arrays([named, _array(table, TICKS), *attributes], ["type", "time", *columns])


def _attribute(table: pa.Table, name: str) -> pa.Array:
    if ATTRIBUTE + name not in table.column_names:
        return pa.nulls(len(table))
    values = _array(table, ATTRIBUTE + name)
    return values.dictionary_encode() if pa.types.is_string(values.type) else values


def _array(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
