"""Events as JSON lines: Arrow reads what is flat and as it is expected, Python the rest."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from connectors.values import may_be_rounded, says_no_number
from connectors.wire.raw import Cells, Raw, UnreadableError, raw_of, too_many

PLAIN = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}

DIGITS = re.compile(rb"\d{4001}")
"""More than Python turns into a number (it stops at 4,300)."""


def read_json(body: bytes, limit: int, known: dict[str, str]) -> Raw:
    """The events of a body, no more than `limit`; `known`: the columns that they should have."""
    lines = body.count(b"\n") + (not body.endswith(b"\n"))
    if lines > limit and sum(1 for line in body.splitlines() if line.strip()) > limit:
        raise too_many(limit)
    quick = _quickly(body, lines, known) if known else None
    return quick if quick is not None else raw_of(_one_by_one(body))


def _quickly(body: bytes, lines: int, known: dict[str, str]) -> Raw | None:
    """By Arrow, or nothing where Arrow might read the body otherwise than the json module does.

    It recurses into what is nested without an end, takes bytes that are no UTF-8 for text, does not care where lines
    end, and rounds whole numbers.
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
    return Raw(found.num_rows, {name: found.column(name).combine_chunks() for name in found.column_names})


def _plain_lines(body: bytes, lines: int) -> bool:
    """Whether each line begins with the only brace in it, and there are no arrays, NaNs and bytes that are no UTF-8."""
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
    events, cells = [], Cells()
    for number, line in enumerate(body.splitlines(), start=1):
        if line.strip():
            events.append(_event(line, number))
            cells.more(events[-1])
    return events


def _event(line: bytes, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        raise UnreadableError(f"line {number} is nested too deep; events are flat") from None
    except (ValueError, UnicodeDecodeError) as error:
        if DIGITS.search(line):
            raise UnreadableError(f"line {number} has a number of more than 4,000 digits; send it as a text") from None
        raise UnreadableError(f"line {number} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UnreadableError(f"line {number} is no object; an event looks like {{'type': 'Request', 'time': 17}}")
    for name, value in found.items():
        if isinstance(value, dict | list):
            raise UnreadableError(f"line {number}: {name!r} is nested; events are flat: numbers, texts, truths, nulls")
        if isinstance(value, float) and isinf(value):
            raise UnreadableError(f"line {number}: {name!r} is a number too large for a float of 64 bits")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON's; write null")
