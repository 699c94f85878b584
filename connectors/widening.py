"""Types for columns of rows that become wider from batch to batch: integers beyond 64 bits, floats among integers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from elsinore.calendar_years import as_texts


def wider(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the narrowest type that holds the values of both; text if there is no other."""
    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other) and one.tz == other.tz:
        return max(one, other, key=lambda kind: ("s", "ms", "us", "ns").index(kind.unit))
    kinds = (one, other)
    if all(pa.types.is_integer(kind) or pa.types.is_decimal(kind) for kind in kinds):
        return pa.decimal256(76, max(kind.scale if pa.types.is_decimal(kind) else 0 for kind in kinds))
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return pa.string()


def fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return the column cast to a type that `wider` chose; raise ArrowInvalid if floats cannot hold its integers."""
    if pa.types.is_dictionary(column.type) and not pa.types.is_dictionary(kind):
        column = pc.dictionary_decode(column)
    if pa.types.is_string(kind) and pa.types.is_temporal(column.type):
        return pa.chunked_array([as_texts(chunk) for chunk in column.chunks], kind)
    return column.cast(kind)
