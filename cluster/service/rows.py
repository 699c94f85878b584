"""Write and read the rows of a job: a file for each batch that has any, read page by page after a cursor.

A cursor is the number of a batch and the number of its rows that were read. Batches are written in order, and a batch
never changes. Matches may be more than the memory holds, so a batch may have several files: the first is written last,
with the numbers of rows of all, so the batch appears when it is whole.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import blake2b
from pathlib import Path
from time import time_ns
from typing import Any

import pyarrow as pa

from elsinore.cluster.service.jobs import StoredJob
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.connectors.errors import FailedError
from elsinore.connectors.formats.json_rows import json_rows
from elsinore.connectors.live_sinks import LiveSink
from elsinore.connectors.rows.answers import table_columns
from elsinore.connectors.rows.json_values import NUMBER
from elsinore.connectors.rows.widening import fitted, wider
from elsinore.connectors.storage.safe_files import put_bytes

PART_FORM = re.compile(r"part-(\d{12,})\.arrow")
"""The name of a file of rows, with the number of its batch."""

COLUMNS_KEY = b"columns"
"""The metadata of a table that holds the columns of each query's rows."""

PIECES_KEY = b"pieces"
"""The metadata of the first of several files of a batch that holds the number of rows of each."""

DIGEST_BYTES = 16
"""The length of the checksum behind the content of a file of rows."""

MAGIC = b"ARROW1"
"""The end of an Arrow file: files of rows of older versions have no checksum behind it."""

MTIME_STEP_NS = 100_000_000
"""Nanoseconds since the modification of a folder after which the next one has another time."""


class RowsSink(LiveSink):
    """The sink of a job's live stream."""

    takes_parts = True

    def __init__(self, folder: Path, columns: Mapping[str, Sequence[str]]) -> None:
        self.folder = folder
        self.columns = columns

    def write(self, batch: int, parts: Iterable[pa.Table]) -> None:
        self.folder.mkdir(exist_ok=True)
        try:
            first, *counts = self._written(batch, iter(parts))
        except Exception:
            _forget_pieces(self.folder, batch, 1)
            raise
        _forget_pieces(self.folder, batch, len(counts) + 1)  # of an attempt that was killed
        pieces = {PIECES_KEY: json.dumps([first.num_rows, *counts]).encode()} if counts else {}
        self._put(batch, 0, first, pieces)

    def _written(self, batch: int, parts: Iterator[pa.Table]) -> Iterator[Any]:
        """Yield the first piece, write the others, and yield the number of rows of each."""
        yield next(parts)
        for piece, rows in enumerate(parts, start=1):
            self._put(batch, piece, rows, {})
            yield rows.num_rows

    def _put(self, batch: int, piece: int, rows: pa.Table, more: Mapping[bytes, bytes]) -> None:
        metadata = {**(rows.schema.metadata or {}), COLUMNS_KEY: json.dumps(self.columns).encode(), **more}
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema.with_metadata(metadata)) as writer:
            writer.write_table(rows.combine_chunks())
        put_bytes(self.folder / _name(batch, piece), _sealed(sink.getvalue().to_pybytes()))


def _name(batch: int, piece: int = 0) -> str:
    """Return the name of a file of rows. A batch is there when its first piece is."""
    return f"more-{batch:012}-{piece:06}.arrow" if piece else f"part-{batch:012}.arrow"


def _forget_pieces(folder: Path, batch: int, piece: int) -> None:
    """Delete the pieces of a batch from a number on."""
    while (path := folder / _name(batch, piece)).exists():
        path.unlink()
        piece += 1


def _sealed(content: bytes) -> bytes:
    return content + blake2b(content, digest_size=DIGEST_BYTES).digest()


def _unsealed(found: bytes) -> memoryview:
    """Return the content of a file of rows; raise ValueError where its checksum does not fit."""
    whole = memoryview(found)
    if found.endswith(MAGIC):
        return whole
    content, digest = whole[:-DIGEST_BYTES], whole[-DIGEST_BYTES:]
    if blake2b(content, digest_size=DIGEST_BYTES).digest() != digest:
        raise ValueError("it was cut short or changed")
    return content


def forget_rows(job: StoredJob, before: float) -> None:
    """Delete the rows of batches that were written before this time, in seconds."""
    for path in job.rows.glob("part-*.arrow"):
        if path.stat().st_mtime < before:
            path.unlink()
            form = PART_FORM.fullmatch(path.name)
            if form:
                _forget_pieces(job.rows, int(form[1]), 1)


@dataclass(frozen=True, order=True)
class Cursor:
    batch: int = 0
    row: int = 0

    def __str__(self) -> str:
        return f"{self.batch}.{self.row}"

    @classmethod
    def read(cls, text: str | None) -> Cursor:
        if text is None:
            return cls()
        parts = text.split(".")
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts):
            raise RefusalError(
                422, "this cursor is invalid; give the `next` of an earlier page, or leave it out", kind="cursor"
            )
        return cls(int(parts[0]), int(parts[1]))


@dataclass(frozen=True)
class RowsPage:
    starts: list[Cursor]
    """By part, the cursor before its first row."""
    parts: list[pa.Table]
    next: Cursor

    def __len__(self) -> int:
        return sum(part.num_rows for part in self.parts)

    def lines(self) -> Iterator[str]:
        """Yield each row as JSON, with the columns of its query."""
        for part in self.parts:
            columns = {name: ("query", *own) for name, own in _columns(part.schema).items()}
            for batch in part.to_batches():
                for lines in json_rows(batch, columns):
                    yield from lines.splitlines()

    def cursors(self) -> Iterator[Cursor]:
        """Yield the cursor behind each row."""
        for start, part in zip(self.starts, self.parts, strict=True):
            yield from (Cursor(start.batch, start.row + row + 1) for row in range(part.num_rows))

    def json(self) -> bytes:
        return f'{{"rows": [{", ".join(self.lines())}], "next": "{self.next}"}}'.encode()

    def arrow(self, now: Mapping[str, Sequence[str]]) -> bytes:
        """Return the rows as one table; `now`: the columns of the current queries."""
        table = _joined(self.parts, now)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        content: bytes = sink.getvalue().to_pybytes()
        return content


@dataclass
class Reader:
    """A reader of one job's pages, which lists the folder again only when it has changed."""

    job: StoredJob
    _known: tuple[int, list[int]] = (-1, [])
    """The modification time of the folder and its batches then; one value, because several threads may read it."""

    def page(self, after: Cursor, limit: int) -> RowsPage:
        starts: list[Cursor] = []
        parts: list[pa.Table] = []
        left, at = limit, after
        batches = self._listed()
        for batch in batches[bisect_left(batches, after.batch) :]:
            for start, rows in self._pieces(batch, after.row if batch == after.batch else 0):
                part = rows.slice(0, left)
                starts.append(start)
                parts.append(part)
                left -= part.num_rows
                at = Cursor(batch, start.row + part.num_rows)
                if not left:
                    return RowsPage(starts, parts, at)
        return RowsPage(starts, parts, at)

    def _pieces(self, batch: int, skipped: int) -> Iterator[tuple[Cursor, pa.Table]]:
        """Yield the rows of a batch behind the first ones, and the cursor before them; none if they have expired."""
        try:
            first = self._read(batch)
            begin = 0
            for piece, count in enumerate(_counts(first)):
                if skipped < begin + count:
                    own = max(skipped - begin, 0)
                    rows = self._read(batch, piece) if piece else first
                    yield Cursor(batch, begin + own), rows.slice(own)
                begin += count
        except FileNotFoundError:
            return

    def before_last(self, rows: int) -> Cursor:
        """Return the cursor after which there are so many rows, or all if there are fewer."""
        left = rows
        for batch in reversed(self._listed()):
            try:
                found = sum(_counts(self._read(batch)))
            except FileNotFoundError:  # it has expired
                continue
            if found >= left:
                return Cursor(batch, found - left)
            left -= found
        return Cursor()

    def touched(self) -> int:
        """Return the modification time of the folder in nanoseconds, which is cheap; 0 if there is none."""
        try:
            return self.job.rows.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def quiet(self, since: int) -> bool:
        """Return whether nothing has come since this modification time of the folder."""
        return self.touched() == since and time_ns() - since > 2 * MTIME_STEP_NS

    def _listed(self) -> list[int]:
        try:
            touched = self.job.rows.stat().st_mtime_ns
            known, batches = self._known
            if touched != known:
                # The clock of a file system is coarse: another file may come with the same modification time.
                settled = time_ns() - touched > MTIME_STEP_NS
                found = map(PART_FORM.fullmatch, (path.name for path in self.job.rows.iterdir()))
                batches = sorted(int(name[1]) for name in found if name)
                self._known = touched if settled else -1, batches
            return batches
        except FileNotFoundError:
            if self.job.folder.is_dir():
                return []
            raise RefusalError(404, f"the job {self.job.name} was removed") from None

    def _read(self, batch: int, piece: int = 0) -> pa.Table:
        name = _name(batch, piece)
        try:
            with pa.ipc.open_file(pa.BufferReader(_unsealed((self.job.rows / name).read_bytes()))) as reader:
                part = reader.read_all()
                part.validate(full=True)
                _columns(part.schema)
                if "query" not in part.column_names:
                    raise ValueError("it holds no rows")
                return part
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            lines = str(error).splitlines() or [type(error).__name__]
            raise FailedError(
                f"the rows {self.job.name}/rows/{name} cannot be read: {lines[0]}. Restore the file, or skip it: "
                f"after={batch + 1}.0"
            ) from None


def _counts(first: pa.Table) -> list[int]:
    """Return the number of rows of each piece of a batch, given the first."""
    found: list[int] = json.loads((first.schema.metadata or {}).get(PIECES_KEY, f"[{first.num_rows}]"))
    return found


def _columns(schema: pa.Schema) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(schema.metadata[COLUMNS_KEY])
    return found


def _joined(parts: Sequence[pa.Table], now: Mapping[str, Sequence[str]]) -> pa.Table:
    columns: dict[str, list[str]] = {name: list(own) for name, own in now.items()}
    for part in parts:
        there = part.column("query").unique().to_pylist()
        columns |= {name: own for name, own in _columns(part.schema).items() if name in there}
    joined = {name: _column([_of(part, name) for part in parts]) for name in table_columns(columns)}
    fields = [field.with_name(name) for name, (field, _) in joined.items()]
    metadata = {key: value for part in parts for key, value in part.schema.metadata.items()}
    schema = pa.schema(fields, {**metadata, COLUMNS_KEY: json.dumps(columns).encode()})
    return pa.table([column for _, column in joined.values()], schema=schema)


def _of(part: pa.Table, name: str) -> tuple[pa.Field, pa.ChunkedArray]:
    if name in part.column_names:
        return part.schema.field(name), part.column(name)
    return pa.field(name, pa.null()), pa.chunked_array([pa.nulls(part.num_rows)])


def _column(parts: Sequence[tuple[pa.Field, pa.ChunkedArray]]) -> tuple[pa.Field, pa.ChunkedArray]:
    """Return a column of several tables as one, in a type that loses no digit."""
    fields = [field for field, column in parts if column.null_count < len(column)] or [field for field, _ in parts[:1]]
    kind = reduce(wider, [_plain(field.type) for field in fields], pa.null())
    try:
        chunks = [_fitted(column, kind) for _, column in parts]
    except pa.ArrowInvalid:
        kind = pa.string()
        chunks = [_fitted(column, kind) for _, column in parts]
    numbers = pa.types.is_string(kind) and all(
        NUMBER in (field.metadata or {}) or not pa.types.is_string(_plain(field.type)) for field in fields
    )
    joined = pa.chunked_array([chunk for column in chunks for chunk in column.chunks], kind)
    return pa.field("", kind, metadata={NUMBER: b"true"} if numbers and fields else None), joined


def _fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), kind)])
    return fitted(column, kind)


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
