"""State as bytes: msgpack of numbers, texts, arrays and batches. Reading a state never runs code from it.

A state that outlives its process names its format and the version of Elsinore that wrote it. A state of another format
is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from struct import Struct
from typing import Any, TypeVar

import msgpack
import numpy as np
import pyarrow as pa

from elsinore._version import __version__
from elsinore.errors import InputError

ARRAY = 1

BIN_32, BIN_HEADER = 0xC6, Struct(">BI")
"""The first byte of bytes in msgpack, and the form of what comes before them: that byte, and their number."""

FORMAT = 3
"""Format of all saved state. Raise it with every change after which earlier states cannot be read.

Format 2 named the classes of a plan by their modules and their fields by position. No release wrote it.
"""

T = TypeVar("T")


class UnreadableError(InputError):
    """A state that another version of Elsinore wrote, or bytes that are no state."""


def unreadable(what: str) -> UnreadableError:
    """Return the error that says what is wrong with a state, and what to do about it."""
    return UnreadableError(
        f"{what}; this is Elsinore {__version__}, which reads format {FORMAT}: begin a new checkpoint, "
        "or go on with the version that wrote this one"
    )


def signed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Add to a document its format and the version that writes it."""
    return {"format": FORMAT, "elsinore": __version__, **document}


def checked(document: Any) -> dict[str, Any]:
    """Return a signed document without its signature, or raise UnreadableError where its format is another one."""
    if not isinstance(document, dict):
        raise unreadable("this is not a state of Elsinore")
    written, version = document.get("format"), document.get("elsinore")
    if written != FORMAT:
        by = f"Elsinore {version}" if version else "an earlier version of Elsinore"
        format_ = f" in format {written}" if written else ""
        raise unreadable(f"this state was written by {by}{format_}")
    return {name: value for name, value in document.items() if name not in ("format", "elsinore")}


def made(kind: type[T], document: Any, name: str, added: frozenset[str] = frozenset()) -> T:
    """Make a dataclass from a document that has exactly its fields, by name; raise UnreadableError otherwise.

    Fields in `added` may be missing: they are left at their defaults.
    """
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(document, dict) or not known - added <= set(document) <= known:
        there = ", ".join(sorted(map(str, document))) if isinstance(document, dict) else type(document).__name__
        raise unreadable(
            f"this state has a {name} of other fields ({there}) than this version knows ({', '.join(sorted(known))})"
        )
    return kind(**document)


@contextmanager
def reading() -> Iterator[None]:
    """Turn errors about the content of a state into UnreadableError."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        found = f"{type(error).__name__}: {error}"
        raise unreadable(f"this state holds other things than this version knows ({found})") from error


def pack(state: Any) -> bytes:
    """Return a tree of dicts, lists, plain values and arrays as bytes."""
    packed: bytes = msgpack.packb(state, default=_encode, strict_types=True)
    return packed


def unpack(data: bytes) -> Any:
    """Read what `pack` wrote."""
    try:
        return msgpack.unpackb(data, ext_hook=_decode, strict_map_key=False, use_list=True)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise unreadable("this is not a state of Elsinore") from error


def packed_blocks(blocks: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return what `pack` returns for a list of blocks, in pieces: blocks are large, and none is copied."""
    headers = [msgpack.Packer().pack_array_header(len(blocks))]
    return [*headers, *(piece for block in blocks for piece in (BIN_HEADER.pack(BIN_32, len(block)), block))]


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
        raise ValueError(f"extension {code} is no part of a state")
    unpacker = msgpack.Unpacker()
    unpacker.feed(data)
    kind, shape = unpacker.unpack()
    return np.frombuffer(data, np.dtype(kind), offset=unpacker.tell()).reshape(shape).copy()
