"""Rows in the types that a Delta table keeps, and the rows of a batch in one stream of one schema."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.connectors.errors import InputError
from elsinore.connectors.formats.parquet_parts import ParquetParts
from elsinore.connectors.rows.json_values import JSON, as_json
from elsinore.connectors.rows.widening import fitted

SPOOLED_ROWS = 1 << 16
"""Number of rows that are read at once from a temporary file."""


@contextmanager
def in_one_schema(parts: Iterable[pa.Table]) -> Iterator[tuple[pa.Schema, Iterable[pa.Table]]]:
    """Yield the schema of all parts, and their rows in it.

    Columns may become wider from part to part, so several parts are written to a temporary file first.
    """
    tables = iter(parts)
    first = list(chain([next(tables)], filter(None, [next(tables, None)])))
    if len(first) == 1:
        yield first[0].schema, first
        return
    with TemporaryDirectory(prefix="elsinore-") as folder:
        path = Path(folder) / "rows.parquet"
        _spool(chain(first, tables), first[0].column_names, path)
        with pq.ParquetFile(path) as file:
            yield file.schema_arrow, (pa.Table.from_batches([one]) for one in file.iter_batches(SPOOLED_ROWS))


def _spool(tables: Iterable[pa.Table], columns: list[str], path: Path) -> None:
    spool = ParquetParts(path, columns)
    try:
        for rows in tables:
            spool.write(rows)
        with path.open("wb") as stream:
            spool.join(stream)
    except BaseException:
        spool.abandon()
        raise


class FixedRows:
    """Rows of one schema in the types of a Delta table, as a stream of Arrow batches."""

    def __init__(self, schema: pa.Schema, tables: Iterable[pa.Table], texts: Collection[str]) -> None:
        """`texts`: the columns in which events are stored as JSON."""
        self._tables, self._texts = tables, texts
        self.schema = with_fixed_types(schema.empty_table(), texts).schema
        self.error: InputError | None = None
        """The error that ended the stream; Arrow hides it."""

    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for rows in self._tables:
                yield from with_fixed_types(rows, self._texts).to_batches()
        except InputError as error:
            self.error = error
            raise


def with_fixed_types(rows: pa.Table, texts: Collection[str]) -> pa.Table:
    """Return rows in the types that a Delta table keeps.

    Integers are decimals of 38 digits, dictionaries are texts, and so is what has no common type, as JSON.
    """
    columns: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if pa.types.is_null(column.type):
            continue
        if column.type == JSON or name in texts:
            columns[name] = as_json(column)
        elif pa.types.is_decimal(column.type) or (pa.types.is_integer(column.type) and not name.startswith("window_")):
            columns[name] = _decimals(name, column)
        elif pa.types.is_dictionary(column.type):
            columns[name] = fitted(column, pa.string())
        elif pa.types.is_timestamp(column.type):
            columns[name] = _microseconds(name, column)
        else:
            columns[name] = column
    return pa.table(columns)


def _microseconds(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.timestamp("us", column.type.tz))
    except pa.ArrowInvalid:
        raise InputError(
            f"{name} has a time that is out of range for a Delta table, which counts microseconds"
        ) from None


def _decimals(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.decimal128(38, 0))
    except pa.ArrowInvalid:
        raise InputError(
            f"{name} has a value of more than 38 digits, which a Delta table cannot hold; use numeric='approximate', "
            "or write to .parquet"
        ) from None
