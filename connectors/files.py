"""Events in one or many CSV, JSON lines or Parquet files, read one after another."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from elsinore.connectors.columns import attribute_type, holds_texts
from elsinore.connectors.dead_letters import DeadLetters
from elsinore.connectors.errors import InputError, nearest
from elsinore.connectors.feed import Chunk, Names
from elsinore.connectors.formats.csv_files import CsvFile
from elsinore.connectors.formats.json_lines import JsonLines
from elsinore.connectors.formats.parquet_files import ParquetFile
from elsinore.connectors.text_blocks import COMPRESSIONS

TEXT_EVENT_BYTES = 50
"""The bytes of an event in a text file, by which the number of events is estimated."""

COMPRESSED_EVENT_BYTES = 5
"""The same in a compressed one."""


class EventFile(Protocol):
    """One file of events; its `types` may widen while it is read."""

    types: dict[str, pa.DataType]
    source: str

    def __init__(self, path: Path, names: Names) -> None: ...

    @property
    def total(self) -> int | None: ...

    @property
    def bytes_read(self) -> int: ...

    def head(self, column: str) -> pa.Array: ...

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]: ...


FORMATS: dict[str, type[EventFile]] = {
    ".csv": CsvFile,
    ".jsonl": JsonLines,
    ".ndjson": JsonLines,
    ".json": JsonLines,
    ".parquet": ParquetFile,
}


class FilesFeed:
    """Files, read in the order in which they are named."""

    in_memory = False

    def __init__(self, paths: Sequence[str | Path], names: Names) -> None:
        found = [path for named in paths for path in _expand(named)]
        self.files = [_format(path)(path, names) for path in found]
        self._sizes = [path.stat().st_size for path in found]

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        merged: dict[str, pa.DataType] = {}
        for file in self.files:
            for name, kind in file.types.items():
                merged[name] = _merge(merged[name], kind) if name in merged else kind
        return merged

    def heads(self, column: str) -> list[tuple[pa.DataType, pa.Array]]:
        """Return the type of a column in each file and, if it holds texts, the first of them.

        Files in which a column of texts has no value are left out, unless no file has one.
        """
        kinds = [(file.types[column], file) for file in self.files if column in file.types]
        found = [(kind, file.head(column) if holds_texts(kind) else pa.nulls(0)) for kind, file in kinds]
        return [(kind, head) for kind, head in found if len(head) or not holds_texts(kind)] or found

    @property
    def total(self) -> int | None:
        totals = [file.total for file in self.files]
        return None if None in totals else sum(total for total in totals if total is not None)

    def holds_at_most(self, events: int) -> bool:
        return sum(map(_estimate, self.files, self._sizes)) <= events

    def head(self, column: str) -> pa.Array:
        heads = (file.head(column) for file in self.files if column in file.types)
        return next((head for head in heads if len(head)), pa.array([], pa.string()))

    def read(self, columns: Sequence[str], letters: DeadLetters) -> Iterator[Chunk]:
        for file in self.files:
            yield from file.read(columns, letters)

    def progress(self) -> float:
        return sum(file.bytes_read for file in self.files) / max(sum(self._sizes), 1)


def _merge(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the type of a column that has these types in two files; the first type if they cannot be combined."""
    one_out, other_out = attribute_type(one), attribute_type(other)
    if pa.types.is_null(one):
        return other
    return other if pa.types.is_floating(other_out) and pa.types.is_integer(one_out) else one


def _estimate(file: EventFile, size: int) -> int:
    """Return the number of events of a file of so many bytes, estimated where the file does not tell it."""
    if file.total is not None:
        return file.total
    return size // (COMPRESSED_EVENT_BYTES if Path(file.source).suffix.lower() in COMPRESSIONS else TEXT_EVENT_BYTES)


def _expand(named: str | Path) -> list[Path]:
    path = Path(named)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name its files, as in {path}/*.parquet.")
    if path.exists():
        return [path]
    if glob.has_magic(str(named)):
        anchor = Path(path.anchor)
        found = sorted(anchor.glob(str(path.relative_to(anchor))))
        files = [match for match in found if match.is_file()]
        if files:
            return files
        raise InputError(f"no file matches {named}.")
    meant = nearest(path.name, _names_in(path.parent))
    hint = f" Did you mean {path.parent / meant}?" if meant else ""
    raise InputError(f"there is no file {path}.{hint}")


def _names_in(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _format(path: Path) -> type[EventFile]:
    endings = [ending.lower() for ending in path.suffixes]
    compressed = bool(endings) and endings[-1] in COMPRESSIONS
    ending = "".join(endings[-2:-1] if compressed else endings[-1:])
    chosen = FORMATS.get(ending)
    if chosen is None or (compressed and chosen is ParquetFile):
        known = ", ".join(FORMATS)
        raise InputError(
            f"{path}: the suffix {''.join(endings[-2:]) or '(none)'} is not that of a known format. "
            f"Events are read from {known}; text files may be compressed ({', '.join(COMPRESSIONS)})."
        )
    return chosen
