"""Sinks for the rows of a live stream, batch by batch. Folders and Delta tables hold a repeated batch only once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from elsinore.connectors.delta_rows import FixedRows, in_one_schema
from elsinore.connectors.errors import InputError
from elsinore.connectors.rows.answers import Columns
from elsinore.connectors.rows.json_values import JSON
from elsinore.connectors.sinks import SINKS, StdoutSink, open_sink
from elsinore.connectors.storage.safe_files import make_folder, put_new

Callback = Callable[[pa.Table, int], Any] | Callable[[pa.Table, int, int], Any]
"""A function of the rows and the number of a batch; or of a piece of the rows, that number, and that of the piece."""

PIECE_ARGUMENTS = 3
"""Number of arguments of a function that is given pieces."""

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

TEXT = "string"
"""The type of texts in the schema of a Delta table."""

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
    sink: str | PathLike[str] | Callback,
    queries: Columns,
    stream: str,
    resumed: bool = False,
    mixed: Collection[str] = (),
) -> LiveSink:
    """Open a sink by its name, or one that calls a function with the rows and the number of each batch.

    A name is a folder *.parquet, *.jsonl or *.csv of files, a Delta table *.delta, or - for JSON lines to stdout.
    `stream` is the name under which only this stream writes to a table; a folder is claimed for it, but not if `stream`
    is empty. `resumed`: the stream may have written rows before. `mixed`: columns that hold events of some
    queries, and something else of others.
    """
    if callable(sink):
        return _of_function(sink)
    if str(sink) == "-":
        return ConsoleSink(queries)
    kind = Path(sink).suffix.lower()
    if kind == ".delta":
        return DeltaSink(str(sink), stream, mixed)
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

    takes_parts = True

    def __init__(self, table: str, stream: str, mixed: Collection[str]) -> None:
        try:
            import deltalake
        except ImportError:
            raise InputError(f"{table}: to write Delta tables, pip install 'elsinore[delta]'") from None
        self.delta = deltalake
        self.table = table
        self.stream = stream
        self.mixed = frozenset(mixed)

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        known = self._known()
        last = None if known is None else known.transaction_version(self.stream)
        if last is not None and last >= batch:
            deque(parts, maxlen=0)  # the caller counts them
            return
        done = self.delta.Transaction(self.stream, batch)
        with in_one_schema(parts) as (schema, tables):
            rows = FixedRows(schema, tables, self._texts(known, schema))
            try:
                self.delta.write_deltalake(
                    self.table,
                    rows.reader(),
                    mode="append",
                    schema_mode="merge",
                    commit_properties=self.delta.CommitProperties(app_transactions=[done]),
                )
            except Exception:
                if rows.error is not None:
                    raise rows.error from None
                raise

    def _known(self) -> Any:
        """Return the table as it is now; None if there is none yet."""
        return self.delta.DeltaTable(self.table) if self.delta.DeltaTable.is_deltatable(self.table) else None

    def _texts(self, known: Any, schema: pa.Schema) -> frozenset[str]:
        """Return the columns in which events are JSON: other queries fill them otherwise, or the table has texts there.

        A column of a Delta table never changes its type, whatever queries come and go.
        """
        kinds = {} if known is None else {field.name: field.type.type for field in known.schema().fields}
        for field in schema:
            is_text = field.name in self.mixed or field.type == JSON
            if is_text and kinds.get(field.name, TEXT) != TEXT:
                raise InputError(
                    f"{self.table} holds events in the column {field.name}, which the queries now fill with other "
                    "values too: give the variable another name, or use another table"
                )
        nested = {field.name for field in schema if pa.types.is_nested(field.type)}
        return self.mixed | {name for name in nested if kinds.get(name) == TEXT}


class ConsoleSink(LiveSink):
    """JSON lines to stdout."""

    takes_parts = True

    def __init__(self, queries: Columns) -> None:
        self.sink = StdoutSink(queries)

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        for rows in parts:
            self.sink.write(rows)


class CallbackSink(LiveSink):
    """A function that is called once with each batch."""

    def __init__(self, function: Callable[[pa.Table, int], Any]) -> None:
        self.function = function

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        (rows,) = parts
        self.function(rows, batch)


class PieceCallbackSink(LiveSink):
    """A function that is called with each piece of a batch: a batch that is repeated begins with piece 0 again."""

    takes_parts = True

    def __init__(self, function: Callable[[pa.Table, int, int], Any]) -> None:
        self.function = function

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        for piece, rows in enumerate(parts):
            self.function(rows, batch, piece)


def _of_function(function: Callable[..., Any]) -> LiveSink:
    """Return the sink for a function: of three arguments without a default, it is given pieces."""
    try:
        arguments = signature(function).parameters.values()
    except ValueError:  # a function of C may not tell its arguments
        return CallbackSink(function)
    needed = [one for one in arguments if one.default is one.empty and one.kind in POSITIONAL]
    return PieceCallbackSink(function) if len(needed) == PIECE_ARGUMENTS else CallbackSink(function)
