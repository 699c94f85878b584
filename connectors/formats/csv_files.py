"""CSV files: a line is an event (no line break in quotes), the first names the columns, an empty cell is null.

Arrow parses block by block with the types that the first block suggests. A block that it refuses is parsed again as
texts, and only the lines that do not fit are lost.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from elsinore.connectors.columns import TYPES, cast_or_null, described
from elsinore.connectors.dead_letters import DeadLetters, Where
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Chunk, Names, require
from elsinore.connectors.table_feeds import unique
from elsinore.connectors.text_blocks import TextBlock, TextBlocks
from elsinore.connectors.values import EXACT_IN_FLOAT, may_be_rounded

NULLS = tuple(pacsv.ConvertOptions().null_values)
"""Spellings of an empty cell in a column of numbers: "", NA, NaN, null and the like."""


HEAD_BYTES = 2 << 20
"""Bytes at the start of a file from which the types of its columns are inferred."""

WHOLE = r"^[+-]?\d+$"

SAMPLE_TEXTS = 10_000
"""Number of texts of a column that are examined one by one."""

MIN_SHARE_OF_TIMES = 0.5
"""The least share of numbers that makes the time column one of numbers."""

Numbers = npt.NDArray[np.int64]


class CsvFile:
    """One CSV file. `types` may widen while it is read: null to any type, integers to floats."""

    total = None

    def __init__(self, path: Path, names: Names) -> None:
        self._names = names
        self._blocks = TextBlocks(path)
        self.source = str(path)
        first = next(iter(self._blocks), None)
        if first is None:
            raise InputError(f"{path} is empty; a CSV file begins with a line that names its columns.")
        header, body = _split(first.start(HEAD_BYTES))
        self._columns = _header(header, self.source)
        self.types: dict[str, pa.DataType] = dict.fromkeys(self._columns, pa.null())
        require(self.types, names, self.source)
        self._first = self._texts(body, self._columns, DeadLetters())[0]
        self._suggest(self._first)
        if pa.types.is_null(self.types[names.time]):
            self._look_for_times()

    @property
    def bytes_read(self) -> int:
        return self._blocks.bytes_read

    def head(self, column: str) -> pa.Array:
        return _without_nulls(self._first.column(column)).drop_null().slice(0, 100)

    def _look_for_times(self) -> None:
        """Find the first block with a time in it, if the first lines have none."""
        for block in self._blocks:
            body = _split(block)[1] if block.first == 1 else block
            texts = self._texts(body, self._columns, DeadLetters())[0] if body.data.strip() else self._first
            times = _without_nulls(texts.column(self._names.time))
            if times.null_count < len(times):
                self._first = texts
                self.types[self._names.time] = _suggested(times, MIN_SHARE_OF_TIMES)
                break

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        names = [name for name in columns if name in self.types]
        for block in self._blocks:
            body = _split(block)[1] if block.first == 1 else block
            if body.data.strip():
                yield self._chunk(body, names, letters)

    def _chunk(self, block: TextBlock, names: Sequence[str], letters: DeadLetters) -> Chunk:
        if not any(pa.types.is_null(self.types[name]) for name in names):
            with suppress(pa.ArrowInvalid):
                chunk = self._parse(block, names)
                if not may_be_rounded(block.data, chunk.batch):
                    return chunk
        return self._salvage(block, names, letters)

    def _parse(self, block: TextBlock, names: Sequence[str]) -> Chunk:
        """Parse a block with the expected types: the fast path."""
        table = pacsv.read_csv(
            pa.BufferReader(block.data),
            read_options=pacsv.ReadOptions(column_names=self._columns),
            convert_options=pacsv.ConvertOptions(
                column_types={name: TYPES if name == self._names.type else self.types[name] for name in names},
                include_columns=list(names),
                null_values=list(NULLS),
            ),
        )
        batch = _one_batch(table)
        batch = batch.from_arrays([_without_empty(batch.column(name)) for name in names], list(names))
        numbers = range(block.first, block.first + len(batch)) if len(batch) == block.height else None
        return Chunk(batch, self.source, "line", numbers)

    def _salvage(self, block: TextBlock, names: Sequence[str], letters: DeadLetters) -> Chunk:
        """Parse a block as texts, and bury the lines that do not fit: the slow path."""
        texts, numbers = self._texts(block, names, letters)
        self._suggest(texts)
        arrays, dead = [], np.zeros(len(texts), bool)
        for name in names:
            array, misfits = self._column(name, texts.column(name))
            arrays.append(array)
            for row in np.flatnonzero(misfits & ~dead).tolist():
                text = texts.column(name)[row].as_py()
                reason = f"its {name!r} is not {described(self.types[name], text)}: {text!r}"
                where = Where(self.source, "line", None if numbers is None else int(numbers[row]))
                letters.bury(reason, where, {other: texts.column(other)[row].as_py() for other in names})
            dead |= misfits
        batch = pa.RecordBatch.from_arrays(arrays, list(names)).filter(pa.array(~dead))
        return Chunk(batch, self.source, "line", None if numbers is None else numbers[~dead])

    def _column(self, name: str, texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
        """Return a column in its type, and a mask of its texts that do not fit."""
        kind = self.types[name]
        if name == self._names.type or kind == pa.string():
            return _without_empty(texts), np.zeros(len(texts), bool)
        if pa.types.is_null(kind):
            return pa.nulls(len(texts)), np.zeros(len(texts), bool)
        texts = _without_nulls(texts)
        values = _floats(texts) if kind == pa.float64() else cast_or_null(texts, kind)
        if kind == pa.int64() and values.null_count > texts.null_count:
            wider = _floats(texts)
            if wider.null_count < values.null_count:
                self.types[name], values = pa.float64(), wider
        return values, pc.and_(values.is_null(), texts.is_valid()).to_numpy(zero_copy_only=False)

    def _texts(
        self, block: TextBlock, names: Sequence[str], letters: DeadLetters
    ) -> tuple[pa.RecordBatch, Numbers | None]:
        """Return all columns as texts, and the numbers of their lines; bury lines with too few or too many cells.

        The numbers are None if a line break inside quotes makes them unknown.
        """
        bad: list[pacsv.InvalidRow] = []

        def leave_out(row: pacsv.InvalidRow) -> str:
            bad.append(row)
            return "skip"

        lines = block.first + np.flatnonzero([bool(line.strip(b"\r")) for line in block.data.split(b"\n")])
        if not len(lines):
            return pa.RecordBatch.from_pydict({name: pa.array([], pa.string()) for name in names}), lines
        table = pacsv.read_csv(
            pa.BufferReader(_readable(block.data)),
            read_options=pacsv.ReadOptions(
                column_names=self._columns, use_threads=False, block_size=len(block.data) + 1024
            ),
            parse_options=pacsv.ParseOptions(invalid_row_handler=leave_out),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=list(names)
            ),
        )
        for row in bad:
            number = int(lines[row.number - 1]) if row.number <= len(lines) else None
            reason = f"it has {row.actual_columns} cells, not {row.expected_columns}"
            letters.bury(reason, Where(self.source, "line", number), row.text)
        batch = _one_batch(table)
        known = len(batch) + len(bad) == len(lines)
        return batch, np.delete(lines, [row.number - 1 for row in bad]) if known else None

    def _suggest(self, texts: pa.RecordBatch) -> None:
        """Choose a type for the columns that have none yet."""
        for name in texts.schema.names:
            if pa.types.is_null(self.types[name]):
                share = MIN_SHARE_OF_TIMES if name == self._names.time else 0.99
                self.types[name] = _suggested(_without_nulls(texts.column(name)), share)
        self.types[self._names.type] = pa.string()


def _suggested(texts: pa.Array, share: float) -> pa.DataType:
    """Return integers, floats or truth values if all texts are such; null if there is no text.

    If some do not fit, a sample decides whether enough of them do: a few mangled lines must not turn a column of
    numbers into one of texts.
    """
    if texts.null_count == len(texts):
        return pa.null()
    for kind in (pa.int64(), pa.bool_()):
        if _castable(texts, kind):
            return kind
    if _castable(texts, pa.float64()) and not pc.all(pc.match_substring_regex(texts, WHOLE)).as_py():
        return pa.float64()
    sample = texts.drop_null()[:: (len(texts) - texts.null_count) // SAMPLE_TEXTS + 1]
    integers, numbers = cast_or_null(sample, pa.int64()), _floats(sample)
    if len(sample) - numbers.null_count < share * len(sample):
        return pa.string()
    return pa.int64() if integers.null_count == numbers.null_count else pa.float64()


def _floats(texts: pa.Array) -> pa.Array:
    """Return the texts as floats, null for numbers beyond float precision.

    These are whole numbers beyond 2**53, and numbers that are too large. Rounded, two of them could become equal.
    """
    floats = cast_or_null(texts, pa.float64())
    bounds = pc.min_max(floats)
    largest = max((abs(bound.as_py()) for bound in bounds.values() if bound.is_valid), default=0.0)
    if largest < EXACT_IN_FLOAT:
        return floats
    whole = pc.match_substring_regex(texts, WHOLE)
    integers = cast_or_null(pc.if_else(whole, texts, pa.scalar(None, pa.string())), pa.int64())
    exact = pc.and_(pc.greater_equal(integers, -EXACT_IN_FLOAT), pc.less_equal(integers, EXACT_IN_FLOAT))
    lost = pc.and_(whole, pc.invert(exact.fill_null(False)))
    too_large = pc.and_(pc.is_inf(floats), pc.match_substring_regex(texts, r"\d"))
    return pc.if_else(pc.or_(lost, too_large), pa.scalar(None, pa.float64()), floats)


def _castable(texts: pa.Array, kind: pa.DataType) -> bool:
    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _without_nulls(texts: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.is_in(trimmed, pa.array(NULLS)), pa.scalar(None, pa.string()), trimmed)


def _without_empty(values: pa.Array) -> pa.Array:
    """Return values with null for empty texts."""
    if values.type != pa.string():
        return values
    empty = pc.equal(pc.binary_length(values), 0)
    return pc.if_else(empty, pa.scalar(None, pa.string()), values) if pc.any(empty).as_py() else values


def _readable(data: bytes) -> bytes:
    """Return the same lines in UTF-8, with the replacement character for invalid bytes."""
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.unify_dictionaries().combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _split(block: TextBlock) -> tuple[bytes, TextBlock]:
    """Return the header line, and the block of lines after it."""
    header, _, body = block.data.partition(b"\n")
    return header, TextBlock(body, block.first + 1)


def _header(line: bytes, source: str) -> list[str]:
    text = line.decode("utf-8-sig", "replace").strip("\r")
    try:
        columns = next(csv.reader([text]), [])
    except csv.Error as error:
        raise InputError(f"{source}, line 1: the names of the columns cannot be read: {error}.") from error
    if not any(columns):
        raise InputError(f"{source}, line 1: empty; a CSV file begins with a line that names its columns.")
    unique(columns, columns, source)
    return columns
