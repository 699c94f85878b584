"""Sinks for the rows of a live stream, batch by batch. Folders and Delta tables hold a repeated batch only once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from elsinore.connectors.errors import InputError
from elsinore.connectors.rows.answers import Columns
from elsinore.connectors.rows.widening import fitted
from elsinore.connectors.sinks import SINKS, StdoutSink, open_sink
from elsinore.connectors.storage.safe_files import make_folder, put_new

Callback = Callable[[pa.Table, int], Any]

MARKER = ".elsinore"
"""The file in a folder of rows that names the stream which writes there; hidden, so readers of the rows ignore it."""


class LiveSink(ABC):
    """A destination for the rows of batches, in order; after a failure, the last batch may be written again."""

    takes_parts = False
    """Whether the rows of a batch may come in several tables, so that they need not fit into memory."""

    @abstractmethod
    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        """Write the rows of a batch; when this returns, the rows are safe. There is one table, unless `takes_parts`."""


def open_live_sink(
    sink: str | PathLike[str] | Callback, queries: Columns, stream: str, resumed: bool = False
) -> LiveSink:
    """Open a sink by its name, or one that calls a function with the rows and the number of each batch.

    A name is a folder *.parquet, *.jsonl or *.csv of files, a Delta table *.delta, or - for JSON lines to stdout.
    `stream` is the name under which only this stream writes to a table; a folder is claimed for it, but not if `stream`
    is empty. `resumed`: the stream may have written rows before.
    """
    if callable(sink):
        return CallbackSink(sink)
    if str(sink) == "-":
        return ConsoleSink(queries)
    kind = Path(sink).suffix.lower()
    if kind == ".delta":
        return DeltaSink(str(sink), stream)
    if kind not in SINKS:
        raise InputError(
            f"{sink}: a live stream writes its rows into a folder whose name ends in {', '.join(SINKS)} or .delta, "
            "or to - as JSON lines"
        )
    found = FolderSink(Path(sink), queries)
    if stream:
        found.claim(stream, resumed)
    return found


class FolderSink(LiveSink):
    """A folder with a file for each batch that has rows, as Spark writes them; a file appears when it is complete."""

    takes_parts = True

    def __init__(self, folder: Path, queries: Columns) -> None:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; the rows of a live stream go into a folder, a file for each batch")
        self.folder = folder
        self.queries = queries
        with self._written():
            make_folder(folder, 0o777)

    def claim(self, stream: str, resumed: bool) -> None:
        """Reserve the folder for this stream: part files are named by batch alone, so two streams would overwrite rows.

        Rows without a marker were written by an older version. A resumed stream takes them for its own.
        """
        marker = self.folder / MARKER
        with self._written():
            if not marker.exists():
                if not resumed and any(self.folder.glob("part-*")):
                    raise self._not_ours("rows that this stream did not write")
                put_new(marker, stream.encode())
            if marker.read_bytes() != stream.encode():
                raise self._not_ours("the rows of another stream")

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"{self.folder} cannot hold rows: {error.strerror or error}") from error

    def _not_ours(self, what: str) -> InputError:
        return InputError(
            f"{self.folder} holds {what}. Use another folder; or start with the checkpoint of the stream that wrote "
            f"them; or remove {self.folder} if they are no longer needed"
        )

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        name = f"part-{batch:012}{self.folder.suffix}"
        with open_sink(self.folder / name, self.queries) as sink:
            for rows in parts:
                sink.write(rows)


class DeltaSink(LiveSink):
    """A Delta table. It records the last batch of each stream, so no batch is appended twice."""

    def __init__(self, table: str, stream: str) -> None:
        try:
            import deltalake
        except ImportError:
            raise InputError(f"{table}: to write Delta tables, pip install 'elsinore[delta]'") from None
        self.delta = deltalake
        self.table = table
        self.stream = stream

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        if self._last() >= batch:
            return
        (rows,) = parts
        done = self.delta.Transaction(self.stream, batch)
        self.delta.write_deltalake(
            self.table,
            _with_fixed_types(rows),
            mode="append",
            schema_mode="merge",
            commit_properties=self.delta.CommitProperties(app_transactions=[done]),
        )

    def _last(self) -> int:
        if not self.delta.DeltaTable.is_deltatable(self.table):
            return -1
        found = self.delta.DeltaTable(self.table).transaction_version(self.stream)
        return -1 if found is None else int(found)


def _with_fixed_types(rows: pa.Table) -> pa.Table:
    """Return rows in the types that a Delta table keeps: integers are decimals of 38 digits, dictionaries are texts."""
    columns: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if pa.types.is_null(column.type):
            continue
        if pa.types.is_decimal(column.type) or (pa.types.is_integer(column.type) and not name.startswith("window_")):
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


class ConsoleSink(LiveSink):
    """JSON lines to stdout."""

    takes_parts = True

    def __init__(self, queries: Columns) -> None:
        self.sink = StdoutSink(queries)

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        for rows in parts:
            self.sink.write(rows)


class CallbackSink(LiveSink):
    def __init__(self, function: Callback) -> None:
        self.function = function

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        (rows,) = parts
        self.function(rows, batch)
