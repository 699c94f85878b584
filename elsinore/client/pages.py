"""Pages of rows that a service sends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from elsinore.client.exchange import Response
from elsinore.connectors.rows.answers import Answers, Columns
from elsinore.connectors.rows.json_values import JSON, NUMBER
from elsinore.connectors.rows.row_columns import Values, exactly, objects
from elsinore.errors import FailedError
from elsinore.result import dicts

COLUMNS_KEY = b"columns"
"""Key of a page's metadata that holds the columns of each query's rows."""

CURSOR_HEADER = "elsinore-next"


@dataclass(frozen=True)
class Page:
    """Some rows of a job, in the order in which they were written."""

    __module__ = "elsinore"

    table: pa.Table
    """The rows in the form of `Result.to_arrow`."""
    cursor: str
    """The position after this page, for `job.results(after=page.cursor)`."""

    @classmethod
    def of(cls, response: Response) -> Page:
        if CURSOR_HEADER not in response.headers:
            raise FailedError("the service's page of rows does not say where the next one begins")
        return cls(table_of(response), response.headers[CURSOR_HEADER])

    def __len__(self) -> int:
        return self.table.num_rows

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict per row with the columns of its query; integers are exact, however large."""
        return [row for part in self.parts() for row in dicts(part, len(part))]

    @property
    def columns(self) -> Columns:
        """Return the columns of each query's rows, including queries without rows."""
        columns_of_queries = json.loads((self.table.schema.metadata or {}).get(COLUMNS_KEY, b"{}"))
        return {query: tuple(names) for query, names in columns_of_queries.items()}

    def parts(self) -> Iterator[Answers]:
        """Yield the rows in order, in stretches of one query each."""
        columns, start = self.columns, 0
        for query, stretch in groupby(self.table.column("query").to_pylist()):
            length = sum(1 for _ in stretch)
            yield _part(query, self.table.slice(start, length), columns[query])
            start += length

    def __repr__(self) -> str:
        return f"<Page: {len(self):,} rows>"


def table_of(response: Response) -> pa.Table:
    """Return the Arrow table in a response; raise FailedError if it cannot be read."""
    try:
        return pa.ipc.open_stream(response.body).read_all()
    except pa.ArrowInvalid as error:
        raise FailedError(f"the service's table cannot be read: {error}") from error


def _part(query: str, rows: pa.Table, names: Sequence[str]) -> Answers:
    return Answers(query, {name: _values(rows, name) for name in names})


def _values(rows: pa.Table, name: str) -> Values:
    column, field = rows.column(name), rows.schema.field(name)
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, field.type)
    if field.type == JSON:
        return _from_json(array.storage)
    if NUMBER in (field.metadata or {}) or pa.types.is_decimal256(field.type):
        return exactly(array)
    return array.dictionary_decode() if pa.types.is_dictionary(field.type) else array


def _from_json(texts: pa.Array) -> Values:
    """Return the events, lists or values of one query that are written in a column which all queries share."""
    values = [None if text is None else json.loads(text) for text in texts.to_pylist()]
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return objects(values)
