"""Events as an Arrow IPC stream. Sizes are checked before values are made: a few bytes may stand for many values."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.columns import check_zone, is_coded_text, is_text, one_array
from elsinore.connectors.errors import InputError
from elsinore.connectors.wire.raw import BodyTooLargeError, RawEvents, UnreadableBodyError, check_room, too_many

RECORD_BATCH, DICTIONARY_BATCH = 3, 2
"""Kinds of messages, as Arrow's Message.fbs numbers them."""

MAX_MESSAGES = 20_000
"""Largest number of messages of a stream, such as batches and dictionaries; each takes kilobytes, even if empty."""

MAX_MESSAGE_BYTES = 4 << 20
"""Largest size in bytes of the metadata of a message, which describes columns or a batch, without the values."""


def read_arrow(body: bytes, limit: int, bytes_: int, most: int | None = None) -> RawEvents:
    """Return the events of a body: no more than `limit`, in no more than `most` columns.

    Their values, at eight bytes each, may take at most `bytes_` bytes, and so may their texts, however short the body
    is: one text or number in it may stand for any number of rows.
    """
    try:
        _check_messages(body)
        batches, events = [], 0
        with pa.ipc.open_stream(body) as stream:
            schema = stream.schema
            _check_schema(schema, most)
            for batch in stream:
                batches.append(batch)
                events += batch.num_rows
                if events > limit:
                    raise too_many(limit)
        table = pa.Table.from_batches(batches, schema)
        table.validate(full=True)
        names = table.column_names
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError) as error:
        raise UnreadableBodyError(f"the body is not an Arrow IPC stream: {str(error).splitlines()[0][:200]}") from None
    check_room(events, sum(not has_nulls_alone(column) for column in table.columns), bytes_)
    columns, left = {}, bytes_
    for name, column in zip(names, table.columns, strict=True):
        found, used = _plain(name, column, left)
        columns[name], left = found, left - used
    return RawEvents(table.num_rows, columns)


def _check_schema(schema: pa.Schema, most: int | None) -> None:
    """Check the number, names and types of the columns; an unusable type is refused before its values are read."""
    if most is not None and len(schema) > most:
        raise InputError(
            f"a job can have at most {most} columns, and these events have {len(schema):,}; send fewer attributes"
        )
    if len(set(schema.names)) < len(schema):
        raise UnreadableBodyError("the Arrow stream has two columns of the same name")
    for field in schema:
        kind = _stored(field.type)
        if not _is_flat(kind):
            raise InputError(
                f"column {field.name[:64]!r} holds {str(kind)[:200]}, which no query can use; attributes are numbers, "
                "texts, truth values or times."
            )
        if pa.types.is_timestamp(kind):
            check_zone(kind, field.name[:64])


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return the type of single values, without extension types and encodings."""
    if isinstance(kind, pa.BaseExtensionType):
        return _stored(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _stored(kind.value_type)
    if pa.types.is_string_view(kind):
        raise InputError("the Arrow stream has a column of string views; cast it to string")
    return kind


def _is_flat(kind: pa.DataType) -> bool:
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return (
        number
        or is_text(kind)
        or any(is_(kind) for is_ in (pa.types.is_temporal, pa.types.is_boolean, pa.types.is_null))
    )


def _plain(name: str, column: pa.ChunkedArray, left: int) -> tuple[pa.Array, int]:
    """Return a column as one array, with plain texts, and the bytes that the texts take.

    The bytes are counted before the texts are decoded, because any number of rows may refer to one text.
    """
    column = pa.chunked_array([_without_runs(chunk) for chunk in column.chunks], _type_without_runs(column.type))
    kind = column.type
    if not (is_text(kind) or is_coded_text(kind)):
        return one_array(column, name), 0
    used = sum(_length(chunk) for chunk in column.chunks)
    if used > left:
        raise BodyTooLargeError(
            f"the texts of column {name!r} have more than {left:,} bytes when they are decoded; "
            "send the events in several bodies"
        )
    return one_array(column, name).cast(pa.string()), used


def _type_without_runs(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _type_without_runs(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        inner = _type_without_runs(kind.value_type)
        return inner if pa.types.is_dictionary(inner) else pa.dictionary(pa.int32(), inner)
    return kind


def _without_runs(values: pa.Array) -> pa.Array:
    """Return runs as a dictionary array, so that the size of the decoded values can be counted before they are made."""
    if isinstance(values, pa.ExtensionArray):
        return _without_runs(values.storage)
    if not pa.types.is_run_end_encoded(values.type):
        return values
    inner = _without_runs(values.values)
    numbers = pa.array(np.arange(len(inner), dtype=np.int32))
    runs = pa.RunEndEncodedArray.from_arrays(values.run_ends, numbers).slice(values.offset, len(values))
    codes = pc.run_end_decode(runs)
    if pa.types.is_dictionary(inner.type):
        return inner.take(codes)
    return pa.DictionaryArray.from_arrays(codes, inner)


def has_nulls_alone(column: pa.ChunkedArray) -> bool:
    """Return whether a column holds only nulls; such a column is neither read nor made, and costs nothing."""
    return all(is_null_alone(chunk) for chunk in column.chunks)


def is_null_alone(values: pa.Array) -> bool:
    """Return whether an array holds only nulls, as far as that can be seen without decoding it."""
    if pa.types.is_null(values.type) or values.null_count == len(values):
        return True
    if isinstance(values, pa.ExtensionArray):
        return is_null_alone(values.storage)
    if pa.types.is_run_end_encoded(values.type):
        return is_null_alone(values.values)
    return pa.types.is_dictionary(values.type) and is_null_alone(values.dictionary)


def _length(chunk: pa.Array) -> int:
    if pa.types.is_dictionary(chunk.type):
        lengths = pc.binary_length(chunk.dictionary).take(chunk.indices)
    else:
        lengths = pc.binary_length(chunk)
    return pc.sum(lengths.cast(pa.int64())).as_py() or 0


def _check_messages(body: bytes) -> None:
    """Check that there are not too many messages, and that none is compressed: decompressed sizes cannot be bounded."""
    at = messages = 0
    while at + 4 <= len(body):
        messages += 1
        if messages > MAX_MESSAGES:
            raise BodyTooLargeError(
                f"the Arrow stream has more than {MAX_MESSAGES:,} batches; send fewer and larger ones"
            )
        (length,) = struct.unpack_from("<i", body, at)
        at += 4
        if length == -1:
            (length,) = struct.unpack_from("<i", body, at)
            at += 4
        if length == 0:
            return
        if length < 0 or at + length > len(body):
            raise UnreadableBodyError("the Arrow stream ends in the middle of a message")
        if length > MAX_MESSAGE_BYTES:
            raise BodyTooLargeError(
                f"the schema or the metadata of a batch of the Arrow stream has more than {MAX_MESSAGE_BYTES:,} bytes"
            )
        size, compressed = _message(body[at : at + length])
        if compressed:
            raise InputError(
                "the batches of the Arrow stream are compressed; compress the body instead (Content-Encoding: zstd)"
            )
        if size < 0 or at + length + size > len(body):
            raise UnreadableBodyError("the Arrow stream ends in the middle of a batch")
        at += length + size


def _message(data: bytes) -> tuple[int, bool]:
    """Return the length of a message's body, and whether it is compressed; `data` is a flatbuffer of Message.fbs."""
    root = struct.unpack_from("<I", data, 0)[0]
    kind_at, header_at, body_at = (_field(data, root, slot) for slot in (1, 2, 3))
    size = struct.unpack_from("<q", data, body_at)[0] if body_at else 0
    kind = data[kind_at] if kind_at else 0
    if kind not in (RECORD_BATCH, DICTIONARY_BATCH) or not header_at:
        return size, False
    batch = header_at + struct.unpack_from("<I", data, header_at)[0]
    if kind == DICTIONARY_BATCH:
        inner = _field(data, batch, 1)
        batch = inner + struct.unpack_from("<I", data, inner)[0]
    return size, bool(_field(data, batch, 3))


def _field(data: bytes, table: int, slot: int) -> int:
    """Return the position of a field of a flatbuffer table; 0 if the table does not have it."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if vtable < 0:
        raise UnreadableBodyError("the Arrow stream has a message that cannot be read")
    if 4 + 2 * slot >= struct.unpack_from("<H", data, vtable)[0]:
        return 0
    offset = struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0]
    return table + offset if offset else 0
