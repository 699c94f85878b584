"""A Parquet file whose columns may widen while it is written: parts of one schema each, joined at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.connectors.rows.widening import fitted, wider


class ParquetParts:
    """The parts of a Parquet file. Every part is at least as wide as the part before it, so there are few."""

    def __init__(self, stem: Path, columns: Sequence[str]) -> None:
        """Write the parts beside the path `stem`."""
        self._stem = stem
        self._schema = pa.schema([(name, pa.null()) for name in columns])
        self._paths: list[Path] = []
        self._writer: pq.ParquetWriter | None = None

    def write(self, rows: pa.Table) -> None:
        rows = _storable(rows.select(self._schema.names))
        schema = _widened(self._schema, rows.schema)
        try:
            table = _fitted(rows, schema)
        except pa.ArrowInvalid:
            schema = _with_text(rows, schema)
            table = _fitted(rows, schema)
        self._part(schema).write_table(table)

    def join(self, stream: IO[bytes]) -> None:
        """Write all parts as one file, and delete them."""
        self._finish()
        schema = self._schema
        for table in self._tables():
            schema = _with_text(table, schema)
        with pq.ParquetWriter(stream, schema) as writer:
            for table in self._tables():
                writer.write_table(_fitted(table, schema))
        self.abandon()

    def abandon(self) -> None:
        self._finish()
        for path in self._paths:
            path.unlink(missing_ok=True)

    def _part(self, schema: pa.Schema) -> pq.ParquetWriter:
        """Return the writer for rows of this schema, of a new part if the schema is wider than before."""
        if self._writer is None or not schema.equals(self._schema):
            self._finish()
            self._paths.append(self._stem.with_name(f"{self._stem.name}{len(self._paths)}"))
            self._writer = pq.ParquetWriter(self._paths[-1], schema)
            self._schema = schema
        return self._writer

    def _finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _tables(self) -> Iterator[pa.Table]:
        with ExitStack() as files:
            for path in self._paths:
                file = files.enter_context(pq.ParquetFile(path))
                yield from (pa.Table.from_batches([batch]) for batch in file.iter_batches(1 << 16))


def _storable(rows: pa.Table) -> pa.Table:
    """Return rows with timestamps of seconds as texts if milliseconds, Parquet's coarsest unit, cannot hold them."""
    for place, column in enumerate(rows.columns):
        if (
            pa.types.is_timestamp(column.type)
            and column.type.unit == "s"
            and _lossless(column, pa.timestamp("ms", column.type.tz)) == pa.string()
        ):
            rows = rows.set_column(place, rows.schema.names[place], fitted(column, pa.string()))
    return rows


def _widened(one: pa.Schema, other: pa.Schema) -> pa.Schema:
    fields = [(field.name, wider(field.type, _plain(other.field(field.name).type))) for field in one]
    return pa.schema(fields, metadata=other.metadata)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _with_text(rows: pa.Table, schema: pa.Schema) -> pa.Schema:
    """Return the schema, with text for columns that would lose digits of these rows."""
    fields = [(field.name, _lossless(rows.column(field.name), field.type)) for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


def _lossless(column: pa.ChunkedArray, kind: pa.DataType) -> pa.DataType:
    try:
        fitted(column, kind)
    except pa.ArrowInvalid:
        return pa.string()
    return kind


def _fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    return pa.table([fitted(rows.column(field.name), field.type) for field in schema], schema=schema)
