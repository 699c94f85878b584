"""Parquet files: only the columns that are asked for are read, a few hundred thousand events at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.connectors.dead_letters import DeadLetters
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Chunk, Names, require
from elsinore.connectors.table_feeds import misnamed, names_of, unique

BATCH_ROWS = 1 << 18


@dataclass(frozen=True)
class RowGroupBounds:
    """A row group: its byte range, its number of events, and the least and the greatest value of a column."""

    start: int
    end: int
    events: int
    bounds: pa.Array


def row_group_bounds(file: pq.ParquetFile, column: str) -> list[RowGroupBounds] | None:
    """Return the spread of each row group; None if one has no statistics, or its bounds cannot be converted."""
    footer = file.metadata
    at = _place_of(column, footer)
    if at is None:
        return None
    found = []
    for group in (footer.row_group(number) for number in range(footer.num_row_groups)):
        chunks = [group.column(number) for number in range(group.num_columns)]
        statistics = chunks[at].statistics
        if statistics is None or not statistics.has_min_max:
            return None
        start = min(chunk.dictionary_page_offset or chunk.data_page_offset for chunk in chunks)
        end = start + sum(chunk.total_compressed_size for chunk in chunks)
        try:
            bounds = pa.array([statistics.min, statistics.max], file.schema_arrow.field(column).type)
        except (OverflowError, ValueError):
            # A time that no datetime can hold. Which events are dead is found when they are read.
            return None
        found.append(RowGroupBounds(start, end, group.num_rows, bounds))
    return found


def _place_of(column: str, footer: pq.FileMetaData) -> int | None:
    """Return the place of a column in a row group, which counts the parts of nested columns; None if it is nested."""
    if not footer.num_row_groups:
        return 0 if column in footer.schema.names else None
    group = footer.row_group(0)
    return next((at for at in range(group.num_columns) if group.column(at).path_in_schema == column), None)


def has_all(file: pq.ParquetFile, column: str) -> bool:
    """Return whether the statistics show that every event has a value, and that none is an empty text or NaN."""
    footer = file.metadata
    at = _place_of(column, footer)
    if at is None or pa.types.is_floating(file.schema_arrow.field(column).type):
        return False
    statistics = [footer.row_group(number).column(at).statistics for number in range(footer.num_row_groups)]
    try:
        return all(one is not None and one.has_min_max and one.null_count == 0 and one.min != "" for one in statistics)
    except (OverflowError, ValueError):
        return False


class ParquetFile:
    """One Parquet file. It is opened again for each read, so of many files only one is open at a time."""

    def __init__(self, path: Path, names: Names) -> None:
        self._path = path
        self._names = names
        self.source = str(path)
        with self._open([]) as file:
            schema = file.schema_arrow
            self.total: int = file.metadata.num_rows
        self._size = path.stat().st_size
        self._rows_read = 0
        self.types: dict[str, pa.DataType] = unique(names_of(schema, self.source), schema.types, self.source)
        require(self.types, names, self.source)

    @property
    def bytes_read(self) -> int:
        return self._size * self._rows_read // max(self.total, 1)

    def head(self, column: str) -> pa.Array:
        for batch in self._batches([column], 100):
            values = batch.column(0).drop_null()
            if len(values):
                return values
        return pa.nulls(0, self.types[column])

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        for batch in self._batches([name for name in columns if name in self.types], BATCH_ROWS):
            numbers = range(self._rows_read, self._rows_read + len(batch))
            self._rows_read += len(batch)
            yield Chunk(batch, self.source, "row", numbers)

    def _batches(self, names: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            with self._open([self._names.type]) as file:
                yield from file.iter_batches(rows, columns=names)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.source} cannot be read to its end: {error}") from error

    def _open(self, coded: list[str]) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(self._path, read_dictionary=coded)
        except UnicodeDecodeError as error:
            raise misnamed(str(self._path), error) from error
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self._path} is not a Parquet file that can be read: {error}") from error
