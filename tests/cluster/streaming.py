"""Helpers for tests of live streams: a folder that grows, and the rows that are expected."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import elsinore

Row = tuple[tuple[str, Any], ...]


@dataclass
class Growing:
    """A stream of events that arrives in a folder piece by piece, each file by an atomic rename."""

    folder: Path
    events: pa.Table
    pieces: int
    put: int = 0
    written: int = 0
    begun: float = field(default_factory=lambda: time() - 3600)

    def more(self, count: int = 1) -> None:
        for _ in range(count):
            length = -(-self.events.num_rows // self.pieces)
            self.write(f"{self.put:04}", self.events.slice(self.put * length, length))
            self.put += 1

    def end(self) -> None:
        """Write the remaining events, and one at a time so late that all windows close."""
        self.more(self.pieces - self.put)
        last = pa.table({"type": ["End"], "time": [10**9]})
        whole = pa.concat_tables([self.events.slice(0, 0), last], promote_options="permissive")
        self.write("9999", whole.cast(self.events.schema))

    def write(self, name: str, events: pa.Table) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f".{name}"
        pq.write_table(events, draft)
        # Spark reads files in order of their modification time.
        self.written += 1
        os.utime(draft, (self.begun + self.written, self.begun + self.written))
        draft.rename(self.folder / f"{name}.parquet")


def answered(folder: Path) -> Counter[Row]:
    """Return all rows in a folder of JSON lines, with their numbers of occurrences."""
    lines = (line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines())
    return Counter(row_of(json.loads(line)) for line in lines)


def answers_alone(workload: str, events: Any) -> Counter[Row]:
    """Return the rows of a local run over all events."""
    return Counter(map(row_of, elsinore.run(workload, events, engine="local").rows()))


def row_of(values: dict[str, Any]) -> Row:
    return tuple(sorted((name, _hashable(value)) for name, value in values.items()))


def _hashable(value: Any) -> Any:
    """Return a value with events and lists as tuples."""
    if isinstance(value, dict):
        return row_of(value)
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def damage(path: Path, at: int | None = None) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if at is None else at] ^= 1
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


HARMS = (damage, cut_short)
