"""Types for columns of rows that become wider from batch to batch: integers beyond 64 bits, floats among integers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.calendar_years import as_texts
from elsinore.connectors.rows.json_values import JSON, as_json


def wider(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the narrowest type that holds the values of both; text if there is no other, and JSON if one is nested."""
    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other) and one.tz == other.tz:
        return max(one, other, key=lambda kind: ("s", "ms", "us", "ns").index(kind.unit))
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return pa.struct([(name, wider(_field(one, name), _field(other, name))) for name in _names(one, other)])
    if pa.types.is_list(one) and pa.types.is_list(other):
        return pa.list_(wider(one.value_type, other.value_type))
    kinds = (one, other)
    if JSON in kinds or any(pa.types.is_nested(kind) for kind in kinds):
        return JSON
    if all(pa.types.is_integer(kind) or pa.types.is_decimal(kind) for kind in kinds):
        return pa.decimal256(76, max(kind.scale if pa.types.is_decimal(kind) else 0 for kind in kinds))
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return pa.string()


def _names(one: pa.StructType, other: pa.StructType) -> list[str]:
    return list(dict.fromkeys(field.name for kind in (one, other) for field in kind))


def _field(kind: pa.StructType, name: str) -> pa.DataType:
    place = kind.get_field_index(name)
    return pa.null() if place < 0 else kind.field(place).type


def fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return the column cast to a type that `wider` chose; raise ArrowInvalid if floats cannot hold its integers."""
    if pa.types.is_dictionary(column.type) and not pa.types.is_dictionary(kind):
        column = pc.dictionary_decode(column)
    if kind == JSON and column.type != JSON:
        return pa.chunked_array([pa.ExtensionArray.from_storage(JSON, chunk) for chunk in as_json(column).chunks], JSON)
    if pa.types.is_nested(kind):
        return pa.chunked_array([_events(chunk, kind) for chunk in column.chunks], kind)
    if pa.types.is_string(kind) and pa.types.is_temporal(column.type):
        return pa.chunked_array([as_texts(chunk) for chunk in column.chunks], kind)
    return column.cast(kind)


def _events(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return events, or lists of them, with attributes of wider types. Arrow cannot cast a slice of structs."""
    if values.type == kind or pa.types.is_null(values.type):
        return values if values.type == kind else pa.nulls(len(values), kind)
    if pa.types.is_struct(kind):
        known = dict(zip((field.name for field in values.type), values.flatten(), strict=True))
        columns = [_event_column(known.get(field.name, pa.nulls(len(values))), field.type) for field in kind]
        return pa.StructArray.from_arrays(columns, fields=list(kind), mask=values.is_null())
    lengths = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    items = _event_column(values.flatten(), kind.value_type)
    return pa.ListArray.from_arrays(offsets, items, type=kind, mask=values.is_null())


def _event_column(values: pa.Array, kind: pa.DataType) -> pa.Array:
    found = fitted(pa.chunked_array([values]), kind)
    return found.chunk(0) if found.num_chunks else pa.nulls(0, kind)
