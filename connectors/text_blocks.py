"""Text files, read in blocks of whole lines, so that a file may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from elsinore.connectors.errors import InputError

BLOCK_BYTES = 8 << 20
"""Bytes in a block: some 100,000 to 400,000 events, enough to keep the cost of a block small."""

MAX_LINE_BYTES = 256 << 20
"""Bytes after which a line without an end is refused, because the file is not text."""

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


@dataclass(frozen=True)
class TextBlock:
    """Whole lines, and the number of the first (from 1)."""

    data: bytes
    first: int

    @property
    def height(self) -> int:
        """Return the number of lines."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    def start(self, size: int) -> TextBlock:
        """Return the lines that begin within the first bytes."""
        end = self.data.find(b"\n", size) + 1
        return TextBlock(self.data[:end], self.first) if end else self


class TextBlocks:
    """The blocks of one file; `bytes_read` counts the bytes read from the file, before they are decompressed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes_read = 0

    def __iter__(self) -> Iterator[TextBlock]:
        try:
            yield from self._blocks()
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.path} cannot be read to its end: {error}") from error

    def _blocks(self) -> Iterator[TextBlock]:
        compression = COMPRESSIONS.get(self.path.suffix.lower())
        first, rest = 1, b""
        with self.path.open("rb") as file, pa.input_stream(file, compression=compression) as stream:
            data = stream.read(BLOCK_BYTES)
            while data:
                following = stream.read(BLOCK_BYTES)
                self.bytes_read = file.tell()
                cut = data.rfind(b"\n") + 1 if following else len(data)
                rest += data[:cut]
                if cut:
                    block = TextBlock(rest, first)
                    yield block
                    first += block.height
                    rest = b""
                rest = self._still_a_line(rest + data[cut:], first)
                data = following

    def _still_a_line(self, line: bytes, number: int) -> bytes:
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"{self.path}, line {number}: longer than {MAX_LINE_BYTES >> 20} MiB; is this a text file?"
            )
        return line
