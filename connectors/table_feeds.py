"""Events given as Arrow tables, as streams of record batches, or as frames of pandas and Polars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.columns import decoded, is_text, one_array, without_view
from elsinore.connectors.dead_letters import DeadLetters
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Chunk

HEAD_ROWS = 1_000_000
"""Rows that are read ahead, at most, to find the first values of a column of a stream."""


class TableColumns(Protocol):
    """A table whose columns are converted to Arrow only when they are asked for."""

    @property
    def types(self) -> Mapping[str, pa.DataType]: ...

    def column(self, name: str) -> pa.Array: ...

    def head(self, name: str) -> pa.Array: ...

    def __len__(self) -> int: ...


class ArrowColumns:
    """A pyarrow table; a column of one chunk is not copied."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.types = unique(names_of(table.schema, "the table"), table.schema.types, "the table")

    def column(self, name: str) -> pa.Array:
        return one_array(self._table.column(name), name)

    def head(self, name: str) -> pa.Array:
        for chunk in self._table.column(name).chunks:
            if values := _first_values(chunk):
                return values
        return pa.nulls(0, self.types[name])

    def __len__(self) -> int:
        return int(self._table.num_rows)


class PandasColumns:
    """A pandas frame, converted column by column: a column that Arrow cannot hold matters only if a query reads it."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        names = [name for name in frame.columns if isinstance(name, str)]
        unique(names, names, "the frame")
        self.types = {name: self._type(name) for name in names}

    def _type(self, name: str) -> pa.DataType:
        series = self._frame[name]
        try:
            return pa.array(series if series.dtype == object else series.iloc[:0], from_pandas=True).type
        except (pa.ArrowException, OverflowError):
            return pa.null()

    def column(self, name: str) -> pa.Array:
        try:
            column = pa.array(self._frame[name], from_pandas=True)
        except (pa.ArrowException, OverflowError) as error:
            raise InputError(f"column {name!r} of the frame has no single type: {error.args[0]}.") from error
        return one_array(column, name) if isinstance(column, pa.ChunkedArray) else column

    def head(self, name: str) -> pa.Array:
        return pa.array(self._frame[name].dropna().iloc[:100], from_pandas=True)

    def __len__(self) -> int:
        return len(self._frame)


class TableFeed:
    """A table in memory, read as one chunk."""

    in_memory = True

    def __init__(self, columns: TableColumns, source: str) -> None:
        self._columns = columns
        self._source = source
        self._done = False

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        return self._columns.types

    @property
    def total(self) -> int:
        return len(self._columns)

    def holds_at_most(self, events: int) -> bool:
        return self.total <= events

    def head(self, column: str) -> pa.Array:
        return self._columns.head(column)

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        names = [name for name in columns if name in self.types]
        batch = pa.RecordBatch.from_arrays([self._columns.column(name) for name in names], names)
        yield Chunk(batch, self._source, "row", range(len(batch)))
        self._done = True

    def progress(self) -> float:
        return float(self._done)


class StreamFeed:
    """A reader of record batches, with any number of events; each batch is one chunk."""

    in_memory = False
    total = None

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader
        self._seen: list[pa.RecordBatch] = []
        """Batches that `head` has read ahead, and `read` has not yet yielded."""
        self.types = unique(names_of(reader.schema, "the stream"), reader.schema.types, "the stream")

    def head(self, column: str) -> pa.Array:
        """Return the first values of a column, from the first batch that has any."""
        for batch in self._ahead(HEAD_ROWS):
            if values := _first_values(batch.column(column)):
                return values
        return pa.nulls(0, self.types[column])

    def holds_at_most(self, events: int) -> bool:
        return sum(map(len, self._ahead(events + 1))) <= events

    def _ahead(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches from the first one on, until they have so many rows, and keep them for `read`."""
        yield from self._seen
        count = sum(map(len, self._seen))
        while count < rows and (batch := self._next()) is not None:
            if len(batch) or not self._seen:
                self._seen.append(batch)
                count += len(batch)
                yield batch

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        names = [name for name in columns if name in self.types]
        at = 0
        while (batch := self._seen.pop(0) if self._seen else self._next()) is not None:
            yield Chunk(batch.select(names), "the stream", "row", range(at, at + len(batch)))
            at += len(batch)

    def _next(self) -> pa.RecordBatch | None:
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            return None
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"the stream of record batches broke off: {error}") from error

    def progress(self) -> None:
        return None


def _first_values(values: pa.Array) -> pa.Array | None:
    """Return the first values that are neither null nor empty texts, which tell nothing; None if there are none."""
    for start in range(0, len(values), 10_000):
        found = without_view(decoded(values.slice(start, 10_000))).drop_null()
        if is_text(found.type):
            found = found.filter(pc.not_equal(found, ""))
        if len(found):
            return found[:100]
    return None


def names_of(schema: pa.Schema, source: str) -> list[str]:
    """Return the names of the columns. Arrow and Parquet store them as bytes: raise InputError if one is not UTF-8."""
    try:
        return list(schema.names)
    except UnicodeDecodeError as error:
        raise misnamed(source, error) from error


def misnamed(source: str, error: UnicodeDecodeError) -> InputError:
    return InputError(f"{source} has a column whose name is not UTF-8 ({error.object!r}); rename it.")


def unique(names: Sequence[str], types: Sequence[Any], source: str) -> dict[str, Any]:
    """Return columns by name; raise InputError if two have the same name."""
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    if twice:
        raise InputError(f"{source} has several columns called {min(twice)!r}; rename all but one of them.")
    return dict(zip(names, types, strict=True))
