"""Where rows go: JSON lines, CSV or Parquet, to a file or to stdout.

A file appears when it is complete: until then it grows under another name beside its own.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.csv as pacsv

from elsinore.calendar_years import out_of_reach
from elsinore.connectors.errors import InputError
from elsinore.connectors.formats.json_rows import json_rows
from elsinore.connectors.formats.parquet_parts import ParquetParts
from elsinore.connectors.storage.drafts import Draft
from elsinore.connectors.widening import fitted

Queries = Mapping[str, Sequence[str]]
"""The columns of each query's rows behind its window: grouping attributes, then items."""

ROWS = 1 << 14
"""How many rows are turned into text at once."""

FIXED = ("query", "window_start", "window_end")


class Sink(ABC):
    """Takes rows until it is closed; used in a `with`, it leaves no file behind where the run fails."""

    @abstractmethod
    def write(self, rows: pa.Table) -> None:
        """Rows as `Result.to_arrow` has them; columns may be wider than in earlier calls."""

    @abstractmethod
    def close(self) -> None:
        """All rows are there: the file appears."""

    @abstractmethod
    def abandon(self) -> None:
        """The run failed: what was written goes away."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def open_sink(path: str | Path | None, queries: Queries) -> Sink:
    """A sink by its name: .jsonl, .csv or .parquet; `-` or none is JSON lines to stdout."""
    if path is None or str(path) == "-":
        return StdoutSink(queries)
    sink = SINKS.get(Path(path).suffix.lower())
    if sink is None:
        raise InputError(f"{path}: rows are written to {', '.join(SINKS)} by name, or to - as JSON lines.")
    return sink(queries, Path(path))


class JsonSink(Sink):
    """An object a row, with the columns of its query alone."""

    def __init__(self, queries: Queries, path: Path) -> None:
        self._columns = {name: (*FIXED, *columns) for name, columns in queries.items()}
        self._file = Draft(path)

    def write(self, rows: pa.Table) -> None:
        for batch in rows.to_batches(ROWS):
            for lines in json_rows(batch, self._columns):
                self._file.stream.write(lines.encode())

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.abandon()


class StdoutSink(Sink):
    """JSON lines to stdout, there as soon as they are known. Where nobody reads on, `write` raises BrokenPipeError."""

    def __init__(self, queries: Queries) -> None:
        self._columns = {name: (*FIXED, *columns) for name, columns in queries.items()}

    def write(self, rows: pa.Table) -> None:
        for batch in rows.to_batches(ROWS):
            sys.stdout.writelines(json_rows(batch, self._columns))
        sys.stdout.flush()

    def close(self) -> None:
        """Nothing is held back."""

    def abandon(self) -> None:
        """What is printed is printed."""


class CsvSink(Sink):
    """All queries under one header; a cell is empty where a row's query has no such column."""

    def __init__(self, queries: Queries, path: Path) -> None:
        self._file = Draft(path)
        self._columns = columns_of(queries)
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
    """One table. Where later rows widen a column, the earlier ones are written again when the file is closed."""

    def __init__(self, queries: Queries, path: Path) -> None:
        self._file = Draft(path)
        self._parts = ParquetParts(self._file.path, columns_of(queries))

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


def columns_of(queries: Queries) -> tuple[str, ...]:
    """The columns of a table that holds the rows of all queries."""
    return tuple(dict.fromkeys((*FIXED, *(name for columns in queries.values() for name in columns))))


def _writable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals as digits, dictionaries and times of far years as texts: what Arrow's CSV writer knows."""
    if pa.types.is_dictionary(column.type) or pa.types.is_decimal(column.type) or out_of_reach(column):
        return fitted(column, pa.string())
    return column
