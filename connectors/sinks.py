"""Sinks for rows: JSON lines, CSV or Parquet, to a file or to stdout.

A file appears when it is complete; until then it is written under a temporary name in the same folder.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.csv as pacsv

from elsinore.calendar_years import out_of_reach
from elsinore.connectors.errors import InputError
from elsinore.connectors.formats.json_rows import json_rows
from elsinore.connectors.formats.parquet_parts import ParquetParts
from elsinore.connectors.rows.answers import Columns, table_columns
from elsinore.connectors.rows.json_values import JSON, as_json
from elsinore.connectors.rows.widening import fitted
from elsinore.connectors.storage.drafts import Draft

BATCH_ROWS = 1 << 14
"""Number of rows that are converted to text at once."""


class Sink(ABC):
    """A destination of rows. Used in a `with`, it leaves no file behind if the run fails."""

    @abstractmethod
    def write(self, rows: pa.Table) -> None:
        """Write rows as `Result.to_arrow` returns them; columns may be wider than in earlier calls."""

    @abstractmethod
    def close(self) -> None:
        """Finish the output after the last row: the file appears."""

    @abstractmethod
    def abandon(self) -> None:
        """Delete what was written, because the run failed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def open_sink(path: str | Path | None, queries: Columns) -> Sink:
    """Open a sink by the suffix of its name: .jsonl, .csv or .parquet; `-` or None means JSON lines to stdout."""
    if path is None or str(path) == "-":
        return StdoutSink(queries)
    sink = SINKS.get(Path(path).suffix.lower())
    if sink is None:
        raise InputError(f"{path}: the file name must end in {', '.join(SINKS)}; or write - for JSON lines on stdout.")
    return sink(queries, Path(path))


class JsonSink(Sink):
    """A file of JSON lines: one object for each row, with only the columns of its query."""

    def __init__(self, queries: Columns, path: Path) -> None:
        self._columns = {name: ("query", *columns) for name, columns in queries.items()}
        self._file = Draft(path)

    def write(self, rows: pa.Table) -> None:
        for batch in rows.to_batches(BATCH_ROWS):
            for lines in json_rows(batch, self._columns):
                self._file.stream.write(lines.encode())

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.abandon()


class StdoutSink(Sink):
    """JSON lines to stdout, flushed after each write. `write` raises BrokenPipeError if the reader has gone."""

    def __init__(self, queries: Columns) -> None:
        self._columns = {name: ("query", *columns) for name, columns in queries.items()}

    def write(self, rows: pa.Table) -> None:
        for batch in rows.to_batches(BATCH_ROWS):
            sys.stdout.writelines(json_rows(batch, self._columns))
        sys.stdout.flush()

    def close(self) -> None:
        """Do nothing: all rows have been flushed."""

    def abandon(self) -> None:
        """Do nothing: printed rows cannot be deleted."""


class CsvSink(Sink):
    """A CSV file with all queries under one header; a cell is empty where a row's query has no such column."""

    def __init__(self, queries: Columns, path: Path) -> None:
        self._file = Draft(path)
        self._columns = table_columns(queries)
        header = pa.table({name: pa.array([], pa.string()) for name in self._columns})
        pacsv.write_csv(header, self._file.stream)

    def write(self, rows: pa.Table) -> None:
        plain = pa.table({name: _writable(rows.column(name)) for name in self._columns})
        pacsv.write_csv(plain, self._file.stream, pacsv.WriteOptions(include_header=False))

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.abandon()


class ParquetSink(Sink):
    """A Parquet file. If later rows widen a column, earlier rows are rewritten when the file is closed."""

    def __init__(self, queries: Columns, path: Path) -> None:
        self._file = Draft(path)
        self._parts = ParquetParts(self._file.path, table_columns(queries))

    def write(self, rows: pa.Table) -> None:
        self._parts.write(rows)

    def close(self) -> None:
        self._parts.join(self._file.stream)
        self._file.close()

    def abandon(self) -> None:
        self._parts.abandon()
        self._file.abandon()


SINKS: dict[str, type[JsonSink] | type[CsvSink] | type[ParquetSink]] = {
    ".jsonl": JsonSink,
    ".ndjson": JsonSink,
    ".csv": CsvSink,
    ".parquet": ParquetSink,
}


def _writable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as Arrow's CSV writer accepts it: decimals, dictionaries and times of far years become texts, and
    events become JSON."""
    if pa.types.is_nested(column.type) or column.type == JSON:
        return as_json(column)
    if pa.types.is_dictionary(column.type) or pa.types.is_decimal(column.type) or out_of_reach(column):
        return fitted(column, pa.string())
    return column
