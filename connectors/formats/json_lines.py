"""Files of JSON lines: each line is an object.

Arrow parses block by block. A block that it refuses, or that it cannot parse safely, is parsed line by line with the
json module, and only the lines that do not fit are lost. Texts stay texts, whatever they contain; only a time column of
texts is read as ISO-8601.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from elsinore.connectors.columns import described
from elsinore.connectors.dead_letters import DeadLetters, Where
from elsinore.connectors.errors import InputError
from elsinore.connectors.feed import Chunk, Names, require
from elsinore.connectors.text_blocks import TextBlock, TextBlocks
from elsinore.connectors.values import fit, is_null, may_be_rounded, says_no_number, type_of

SAMPLE_LINES = 20_000
"""Number of lines, evenly spread over a block, from which the columns and their types are inferred."""

BYTE_ORDER_MARK = "\ufeff"

Line = tuple[int, dict[str, Any]]


class JsonLines:
    """One file of JSON lines. `types` may widen while it is read: null to any type, integers to floats."""

    total = None

    def __init__(self, path: Path, names: Names) -> None:
        self._names = names
        self._blocks = TextBlocks(path)
        self.source = str(path)
        self.types: dict[str, pa.DataType] = {}
        first = next(iter(self._blocks), None)
        self._first = _sample(first) if first is not None else []
        if first is not None and first.data.strip() and not self._first:
            raise InputError(_not_json_lines(self.source, first.data.lstrip()))
        self._suggest(self._first, dict.fromkeys(key for event in self._first for key in event))
        if pa.types.is_null(self.types.get(names.time, pa.null())):
            self._look_for_times()
        require(self.types, names, self.source)

    @property
    def bytes_read(self) -> int:
        return self._blocks.bytes_read

    def head(self, column: str) -> pa.Array:
        values = [event[column] for event in self._first if not is_null(event.get(column))]
        return fit(values[:100], self.types[column])[0].drop_null()

    def _look_for_times(self) -> None:
        """Find the first block with a time in it, if the first block has none."""
        for block in self._blocks:
            found = _sample(block)
            if any(not is_null(event.get(self._names.time)) for event in found):
                self._first = found
                self._suggest(found, [self._names.time])
                break

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        for block in self._blocks:
            if block.data.strip():
                self._look_for_new(block, columns)
                yield self._chunk(block, [name for name in columns if name in self.types], letters)

    def _chunk(self, block: TextBlock, names: Sequence[str], letters: DeadLetters) -> Chunk:
        if _safe(block):
            with suppress(pa.ArrowInvalid):
                chunk = self._parse(block, names)
                if not may_be_rounded(block.data, chunk.batch):
                    return chunk
        return self._salvage(block, names, letters)

    def _parse(self, block: TextBlock, names: Sequence[str]) -> Chunk:
        """Parse a block with the expected types: the fast path."""
        schema = pa.schema([(name, self.types[name]) for name in names])
        options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        table = pajson.read_json(pa.BufferReader(block.data), parse_options=options)
        batch = table.combine_chunks().to_batches()[0]
        numbers = range(block.first, block.first + len(batch)) if len(batch) == block.height else None
        return Chunk(batch, self.source, "line", numbers)

    def _salvage(self, block: TextBlock, names: Sequence[str], letters: DeadLetters) -> Chunk:
        """Parse a block line by line, and bury the lines that do not fit: the slow path."""
        lines = list(self._objects(block, letters))
        bad: set[int] = set()
        arrays = []
        for name in names:
            values = [event.get(name) for _, event in lines]
            array, misfits = fit(values, self.types[name])
            misfits = sorted({*misfits, *_infinite(array)})
            self.types[name] = array.type
            arrays.append(array)
            for row in misfits:
                if row not in bad:
                    reason = f"its {name!r} is not {described(array.type, values[row])}: {_shown(values[row])}"
                    letters.bury(reason, Where(self.source, "line", lines[row][0]), lines[row][1])
            bad.update(misfits)
        batch = pa.RecordBatch.from_arrays(arrays, list(names))
        good = [row for row in range(len(lines)) if row not in bad]
        return Chunk(batch.take(pa.array(good, pa.int64())), self.source, "line", [lines[row][0] for row in good])

    def _objects(self, block: TextBlock, letters: DeadLetters) -> Iterator[Line]:
        """Yield the lines that are objects, with their numbers; bury the others."""
        for number, line in enumerate(block.data.split(b"\n"), block.first):
            if line.strip():
                event = _object(line)
                if isinstance(event, dict):
                    yield number, event
                else:
                    text = line.decode("utf-8", "backslashreplace")
                    letters.bury(event, Where(self.source, "line", number), text)

    def _look_for_new(self, block: TextBlock, columns: Sequence[str]) -> None:
        """Infer the type of a requested column that has not been seen so far."""
        unknown = [name for name in columns if pa.types.is_null(self.types.get(name, pa.null()))]
        if any(json.dumps(name).encode() in block.data for name in unknown):
            self._suggest(_sample(block), unknown)

    def _suggest(self, events: Sequence[dict[str, Any]], names: Iterable[str]) -> None:
        """Choose a type for these columns from the events that have them."""
        for name in names:
            if any(name in event for event in events):
                self.types[name] = type_of([event.get(name) for event in events])
        if self._names.type in self.types:
            self.types[self._names.type] = pa.string()


def _infinite(array: pa.Array) -> list[int]:
    """Return the rows with numbers too large for a float: JSON has no other infinity."""
    if not pa.types.is_floating(array.type):
        return []
    return np.flatnonzero(pc.is_inf(array).fill_null(False).to_numpy(zero_copy_only=False)).tolist()


def _sample(block: TextBlock) -> list[dict[str, Any]]:
    lines = [line for line in block.data.split(b"\n") if line.strip()]
    events = map(_object, lines[:: len(lines) // SAMPLE_LINES + 1])
    return [event for event in events if isinstance(event, dict)]


def _object(line: bytes) -> dict[str, Any] | str:
    """Return the object on a line, or the reason why there is none."""
    try:
        event = _DECODER.decode(line.decode().lstrip(BYTE_ORDER_MARK))
    except UnicodeDecodeError as error:
        return f"it is not UTF-8: byte {error.start + 1} of the line"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return f"it is not JSON: {error}"
    return event if isinstance(event, dict) else "it is not an object"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _safe(block: TextBlock) -> bool:
    """Return whether Arrow may parse this block.

    It must be UTF-8, which Arrow does not check, and must not hold NaN, which Arrow reads as a number. Every line must
    begin with a brace: Arrow crashes at a null there.
    """
    data = block.data
    if says_no_number(data):
        return False
    if data.count(b"\n{") + data.startswith(b"{") != block.height:
        return False
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _not_json_lines(source: str, data: bytes) -> str:
    if data.startswith(b"["):
        return f"{source} is a JSON array; write one object a line (jq -c '.[]' {source} > events.jsonl)."
    line = data.partition(b"\n")[0].decode("utf-8", "backslashreplace")
    return f"{source}: none of its first lines is a JSON object, which an event is; the first line: {_shown(line)}."


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
