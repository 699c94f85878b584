"""Rows as JSON lines: numbers with all their digits, times as ISO-8601."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

NUMBER = b"number"
"""A text column whose field has this key in its metadata holds numbers with more digits than any number column."""


def json_rows(batch: pa.RecordBatch, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A line for each row, with the columns of its query."""
    cells = {field.name: _cells(batch.column(field.name), field) for field in batch.schema}
    named = {query: [(f"{json.dumps(name)}: ", cells[name]) for name in names] for query, names in columns.items()}
    for row, query in enumerate(batch.column("query").to_pylist()):
        yield "{" + ", ".join([name + values[row] for name, values in named[query]]) + "}\n"


def _cells(column: pa.Array, field: pa.Field) -> list[str]:
    """The JSON of each value."""
    if NUMBER in (field.metadata or {}):
        return ["null" if value is None else value for value in column.to_pylist()]
    if pa.types.is_timestamp(field.type):
        return [_timestamp(text) for text in column.cast(pa.string()).to_pylist()]
    return [_json(value) for value in column.to_pylist()]


def _timestamp(text: str | None) -> str:
    """Arrow writes a blank between date and time; nanoseconds and zones are as they should be."""
    return "null" if text is None else f'"{text.replace(" ", "T", 1)}"'


def _json(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
