"""State as bytes: msgpack of numbers, texts, arrays and batches; nothing that could run code when it is read."""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import pyarrow as pa

ARRAY = 1


def pack(state: Any) -> bytes:
    """A tree of dicts, lists, plain values and arrays."""
    packed: bytes = msgpack.packb(state, default=_encode, strict_types=True)
    return packed


def unpack(data: bytes) -> Any:
    return msgpack.unpackb(data, ext_hook=_decode, strict_map_key=False, use_list=True)


def pack_batch(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpack_batch(data: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(data).read_next_batch()


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        head = msgpack.packb([value.dtype.str, list(value.shape)])
        return msgpack.ExtType(ARRAY, head + np.ascontiguousarray(value).tobytes())
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"{type(value)} is no part of a state")


def _decode(code: int, data: bytes) -> Any:
    if code != ARRAY:
        raise ValueError("this is not a state of Elsinore's")
    unpacker = msgpack.Unpacker()
    unpacker.feed(data)
    kind, shape = unpacker.unpack()
    return np.frombuffer(data, np.dtype(kind), offset=unpacker.tell()).reshape(shape).copy()
