"""Owners of events: threads that share the partitions of a stream, each with graphs of its own.

All events of a partition have one owner, in every batch: values that are equal are dealt alike, whatever type their
column has in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.streams.key_groups import key_groups

Owners = npt.NDArray[np.uint8]


def owners_of(columns: Sequence[pa.Array], count: int, owners: int) -> Owners:
    """Return the number of the owner of each event, from the columns that split the stream.

    Some of the columns are enough, since the events of a partition agree in all; texts take longest to hash.
    """
    quick = [column for column in columns if not _holds_texts(column.type)]
    return key_groups([_alike(column) for column in quick or columns], count, owners).astype(np.uint8)


def _holds_texts(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_null(kind)


def _alike(column: pa.Array) -> pa.Array:
    """Return a column in which equal values have equal types: 1.0 is 1, as partitions have it."""
    kind = column.type
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False).astype(np.float64)
        with np.errstate(invalid="ignore"):
            whole = (np.floor(values) == values) & (np.abs(values) < 2**53)
            words = np.where(whole, values, 0.0).astype(np.int64)
        return pa.array(np.where(whole, words, values.view(np.int64)), mask=_nulls(column))
    if pa.types.is_temporal(kind) and kind.bit_width == 32:
        return column.cast(pa.int32())
    return column


def _nulls(column: pa.Array) -> npt.NDArray[np.bool_] | None:
    return column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
