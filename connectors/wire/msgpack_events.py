"""Events as msgpack: one array of maps. It is read event by event, because few bytes can claim many values."""

from __future__ import annotations

from typing import Any

import msgpack

from elsinore.connectors.errors import InputError
from elsinore.connectors.wire.raw import (
    MAX_COLUMN_BYTES,
    BodyTooLargeError,
    CellLimit,
    RawEvents,
    UnreadableBodyError,
    raw_of,
    too_many,
)

FLAT_EVENTS = "send numbers, texts, truth values, times or nulls"


MAX_EVENT_VALUES = 100_000
"""Largest number of values of one event, which is made before its values can be checked."""


def read_msgpack(body: bytes, limit: int, room: int = MAX_COLUMN_BYTES) -> RawEvents:
    """Return the events of a body, no more than `limit`."""
    nested = _Nested()
    unpacker = msgpack.Unpacker(
        max_buffer_size=max(len(body), 1),
        max_map_len=MAX_EVENT_VALUES,
        max_array_len=0,
        object_hook=nested.map,
        list_hook=nested.array,
        ext_hook=nested.extension,
        timestamp=0,
        strict_map_key=True,
    )
    unpacker.feed(body)
    try:
        count = unpacker.read_array_header()
        if count > limit:
            raise too_many(limit)
        events = [nested.event(unpacker.unpack(), number) for number in range(count)]
    except msgpack.OutOfData:
        raise UnreadableBodyError("the body ends in the middle of its msgpack") from None
    except InputError:
        raise
    except (msgpack.UnpackException, ValueError, OverflowError, RecursionError) as error:
        message = str(error) or type(error).__name__
        if "max_array_len" in message:
            raise UnreadableBodyError(f"an event of the msgpack has an array as a value; {FLAT_EVENTS}") from None
        if "max_map_len" in message:
            raise BodyTooLargeError(f"an event of the msgpack has more than {MAX_EVENT_VALUES:,} values") from None
        raise UnreadableBodyError(
            f"the body is not msgpack: one array of maps with texts as keys ({message})"
        ) from None
    if unpacker.tell() != len(body):
        raise UnreadableBodyError("the body continues after its msgpack array; send one array of maps")
    return raw_of(events, room)


class _Nested:
    """The unpacker's hooks. Events are flat: a map, array or extension inside one is refused before it grows."""

    def __init__(self) -> None:
        self.maps = 0
        self.cells = CellLimit()

    def map(self, found: dict[Any, Any]) -> dict[Any, Any]:
        self.maps += 1
        if self.maps > 1:
            raise UnreadableBodyError(f"an event has a map as a value; {FLAT_EVENTS}")
        self.cells.more(found)
        return found

    def array(self, _: list[Any]) -> None:
        raise UnreadableBodyError(f"an event has an array as a value; {FLAT_EVENTS}")

    def extension(self, code: int, _: bytes) -> None:
        raise UnreadableBodyError(f"an event has a value of the extension type {code}, which is not supported")

    def event(self, found: Any, number: int) -> dict[str, Any]:
        self.maps = 0
        if not isinstance(found, dict):
            raise UnreadableBodyError(f"event {number} is not a map; the body must be one array of maps")
        if not all(isinstance(key, str) for key in found):
            raise UnreadableBodyError(f"event {number} has a key that is not a text")
        return {key: _time(value) if type(value) is msgpack.Timestamp else value for key, value in found.items()}


def _time(value: msgpack.Timestamp) -> Any:
    """Return a datetime, or the value itself if no datetime can hold it: then only its event is dead."""
    try:
        return value.to_datetime()
    except (OverflowError, ValueError):
        return value
