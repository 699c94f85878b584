"""Events as JSON lines: Arrow reads flat lines with the expected columns, Python all others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from math import isinf
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from elsinore.connectors.values import may_be_rounded, says_no_number
from elsinore.connectors.wire.raw import (
    MAX_COLUMN_BYTES,
    BodyTooLargeError,
    CellLimit,
    RawEvents,
    UnreadableBodyError,
    check_room,
    raw_of,
    too_many,
)

PLAIN = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}

DIGITS = re.compile(rb"\d{4001}")
"""Matches more than 4,000 digits in a row; Python's int refuses more than 4,300."""


LINE = re.compile(rb"[^\s][^\r\n]*")
"""Matches a line from its first character that is not white space."""

NAME = re.compile(rb'"([^"\\]*+)"\s*+:')
"""Matches a JSON name without escapes; Arrow does not find names with escapes, so Python reads them."""

MAX_LINE_PARTS = 500_000
"""Largest number of commas and opening brackets of one line: each may be a value, made before nesting is detected."""

MAX_PIECE_VALUES = 1 << 20
"""Number of values, including nulls, that Arrow makes at a time."""


def read_json(body: bytes, limit: int, known: dict[str, str], room: int = MAX_COLUMN_BYTES) -> RawEvents:
    """Return the events of a body, no more than `limit`; `known` holds the expected columns and their types."""
    lines = body.count(b"\n") + (not body.endswith(b"\n"))
    if lines > limit:
        if next(islice(numbered_lines(body), limit, None), None) is not None:
            raise too_many(limit)
        return raw_of(_one_by_one(body), room)
    quick = _in_pieces(body, lines, known, room) if known else None
    return quick if quick is not None else raw_of(_one_by_one(body), room)


def _in_pieces(body: bytes, lines: int, known: dict[str, str], room: int) -> RawEvents | None:
    """Parse the body with Arrow, or return None if Arrow cannot.

    Arrow makes all known columns. It gets so few lines at a time that columns with only nulls can be dropped after
    each.
    """
    size = max(1, MAX_PIECE_VALUES // len(known))
    if lines <= size:
        found = _quickly(body, lines, known)
        if found is None:
            return None
        columns = _with_values(found)
        check_room(lines, len(columns), room)
        return RawEvents(lines, columns)
    if body.count(b"{") != lines:
        return None
    pieces: list[RawEvents] = []
    names: dict[str, pa.DataType] = {}
    for piece in _pieces(body, size):
        found = _quickly(piece, piece.count(b"\n") + (not piece.endswith(b"\n")), _named(piece, known))
        if found is None:
            return None
        pieces.append(RawEvents(found.events, _with_values(found)))
        names |= {name: values.type for name, values in pieces[-1].columns.items() if isinstance(values, pa.Array)}
        check_room(lines, len(names), room)
    whole: dict[str, pa.Array] = {}
    for name, kind in names.items():
        parts = [piece.columns[name] if name in piece.columns else pa.nulls(piece.events, kind) for piece in pieces]
        whole[name] = pa.concat_arrays(parts)
    return RawEvents(lines, whole)


def _pieces(body: bytes, lines: int) -> Iterator[bytes]:
    """Yield the body in pieces of so many lines."""
    ends = np.flatnonzero(np.frombuffer(body, np.uint8) == ord("\n")) + 1
    begin = 0
    for end in [*ends[lines - 1 :: lines].tolist(), len(body)]:
        if begin < end:
            yield body[begin:end]
        begin = end


def _named(piece: bytes, known: dict[str, str]) -> dict[str, str]:
    """Return the known columns that a piece may have; at least one, because Arrow counts no events without columns."""
    names = set(NAME.findall(piece))
    found = {name: kind for name, kind in known.items() if name.encode() in names}
    return found or dict(islice(known.items(), 1))


def _with_values(raw: RawEvents) -> dict[str, pa.Array]:
    return {
        name: values
        for name, values in raw.columns.items()
        if isinstance(values, pa.Array) and values.null_count < len(values)
    }


def numbered_lines(body: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers, one at a time: a body may be nothing but line ends."""
    number = at = 0
    for found in LINE.finditer(body):
        between = body[at : found.start()]
        number += between.count(b"\n") + between.count(b"\r") - between.count(b"\r\n")
        at = found.end()
        yield number + 1, found[0]


def _quickly(body: bytes, lines: int, known: dict[str, str]) -> RawEvents | None:
    """Parse a body with Arrow, or return None if Arrow might read it differently from the json module.

    Arrow recurses into nested values without a limit, accepts bytes that are not UTF-8 as text, does not require one
    event a line, and rounds whole numbers.
    """
    if not _plain_lines(body, lines):
        return None
    schema = pa.schema([(name, PLAIN.get(kind, pa.string())) for name, kind in known.items()])
    options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    try:
        found = pajson.read_json(pa.BufferReader(body), pajson.ReadOptions(block_size=len(body) + 1), options)
    except (pa.ArrowException, OSError):
        return None
    if found.num_rows != lines or may_be_rounded(body, found):
        return None
    return RawEvents(found.num_rows, {name: found.column(name).combine_chunks() for name in found.column_names})


def _plain_lines(body: bytes, lines: int) -> bool:
    """Return whether each line begins with its only brace, and all is UTF-8 without arrays and NaNs."""
    if b"[" in body or (b"\r" in body and body.count(b"\r") != body.count(b"\r\n")) or says_no_number(body):
        return False
    data = np.frombuffer(body, np.uint8)
    braces = np.flatnonzero(data == ord("{"))
    if len(braces) != lines or braces[0] != 0 or not (data[braces[1:] - 1] == ord("\n")).all():
        return False
    try:
        return body.isascii() or bool(body.decode())
    except UnicodeDecodeError:
        return False


def _one_by_one(body: bytes) -> list[dict[str, Any]]:
    events, cells = [], CellLimit()
    for number, line in numbered_lines(body):
        events.append(_event(line, number))
        cells.more(events[-1])
    return events


def _event(line: bytes, number: int) -> dict[str, Any]:
    if len(line) > MAX_LINE_PARTS and sum(map(line.count, (b",", b"[", b"{"))) > MAX_LINE_PARTS:
        raise BodyTooLargeError(f"line {number} may have more than {MAX_LINE_PARTS:,} values; a line is one event")
    try:
        found = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        raise UnreadableBodyError(f"line {number} is nested too deeply; an event must be flat") from None
    except (ValueError, UnicodeDecodeError) as error:
        if DIGITS.search(line):
            raise UnreadableBodyError(
                f"line {number} has a number of more than 4,000 digits; send it as a text"
            ) from None
        raise UnreadableBodyError(f"line {number} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UnreadableBodyError(
            f"line {number} is not an object; an event looks like {{'type': 'Request', 'time': 17}}"
        )
    for name, value in found.items():
        if isinstance(value, dict | list):
            raise UnreadableBodyError(f"line {number}: {name!r} is nested; send a number, text, truth value or null")
        if isinstance(value, float) and isinf(value):
            raise UnreadableBodyError(f"line {number}: {name!r} is a number too large for a float of 64 bits")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number; write null")
