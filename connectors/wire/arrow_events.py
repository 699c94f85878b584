"""Events as an Arrow IPC stream. What a few bytes of it may stand for is looked at before it is made."""

from __future__ import annotations

import struct

import pyarrow as pa
import pyarrow.compute as pc

from connectors.columns import is_coded_text, is_text, one_array
from connectors.errors import InputError
from connectors.wire.raw import Raw, TooManyError, UnreadableError, too_many

RECORD_BATCH, DICTIONARY_BATCH = 3, 2
"""Kinds of messages, as Arrow's Message.fbs numbers them."""


def read_arrow(body: bytes, limit: int, bytes_: int) -> Raw:
    """The events of a body, no more than `limit`, with no more than so many bytes of text."""
    try:
        _check_messages(body)
        batches = []
        with pa.ipc.open_stream(body) as stream:
            for batch in stream:
                batches.append(batch)
                if sum(one.num_rows for one in batches) > limit:
                    raise too_many(limit)
            schema = stream.schema
        table = pa.Table.from_batches(batches, schema)
        table.validate(full=True)
        names = table.column_names
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError) as error:
        raise UnreadableError(f"the body is no Arrow IPC stream: {str(error).splitlines()[0][:200]}") from None
    if len(set(names)) < table.num_columns:
        raise UnreadableError("the Arrow stream has two columns of one name")
    columns, left = {}, bytes_
    for name, column in zip(names, table.columns, strict=True):
        found, used = _plain(name, column, left)
        columns[name], left = found, left - used
    return Raw(table.num_rows, columns)


def _plain(name: str, column: pa.ChunkedArray, left: int) -> tuple[pa.Array, int]:
    """One array, texts as texts, and how many bytes these are: a text may be pointed at any number of times."""
    kind = column.type
    if not (is_text(kind) or is_coded_text(kind)):
        return one_array(column, name), 0
    used = sum(_length(chunk) for chunk in column.chunks)
    if used > left:
        raise TooManyError(f"the texts of column {name!r} are more than {left:,} bytes when they are written out")
    return one_array(column, name).cast(pa.string()), used


def _length(chunk: pa.Array) -> int:
    if pa.types.is_dictionary(chunk.type):
        lengths = pc.binary_length(_viewless(chunk.dictionary)).take(chunk.indices)
    else:
        lengths = pc.binary_length(_viewless(chunk))
    return pc.sum(lengths.cast(pa.int64())).as_py() or 0


def _viewless(texts: pa.Array) -> pa.Array:
    if pa.types.is_string_view(texts.type):
        raise InputError("the Arrow stream has a column of string views; cast it to string")
    return texts


def _check_messages(body: bytes) -> None:
    """No batch is compressed inside: what is not there yet when it is read cannot be bounded."""
    at = 0
    while at + 4 <= len(body):
        (length,) = struct.unpack_from("<i", body, at)
        at += 4
        if length == -1:
            (length,) = struct.unpack_from("<i", body, at)
            at += 4
        if length == 0:
            return
        if length < 0 or at + length > len(body):
            raise UnreadableError("the Arrow stream ends in the middle of a message")
        size, compressed = _message(body[at : at + length])
        if compressed:
            raise InputError(
                "the Arrow stream is compressed inside; compress the body instead (Content-Encoding: zstd)"
            )
        if size < 0 or at + length + size > len(body):
            raise UnreadableError("the Arrow stream ends in the middle of a batch")
        at += length + size


def _message(data: bytes) -> tuple[int, bool]:
    """Of a flatbuffer of Arrow's Message.fbs: the length of its body, and whether that is compressed."""
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
    """Where a field of a table is; 0 where the table has none such."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if vtable < 0:
        raise UnreadableError("the Arrow stream has a message that cannot be read")
    if 4 + 2 * slot >= struct.unpack_from("<H", data, vtable)[0]:
        return 0
    offset = struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0]
    return table + offset if offset else 0
