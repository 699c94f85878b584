"""Decompression of bodies, up to a limit: a few kilobytes can hold a terabyte of zeros."""

from __future__ import annotations

import pyarrow as pa

from elsinore.connectors.wire.raw import BodyTooLargeError, UnreadableBodyError

CODINGS = ("gzip", "zstd")

PIECE_BYTES = 1 << 20


def inflated(body: bytes, coding: str, limit: int) -> bytes:
    """Return the body decompressed; raise TooManyError if it has more than `limit` bytes."""
    found = bytearray()
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), coding) as stream:
            while piece := stream.read(PIECE_BYTES):
                found += piece
                if len(found) > limit:
                    raise BodyTooLargeError(
                        f"the body has more than {limit:,} bytes when decompressed; split it into several requests"
                    )
    except (OSError, pa.ArrowException) as error:
        raise UnreadableBodyError(f"the body is not valid {coding}: {error}") from None
    return bytes(found)
