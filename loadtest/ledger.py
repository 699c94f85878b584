"""The rows that a sender must get for the events that it sent, for queries whose rows it can count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from loadtest.stream import WINDOW

Key = tuple[str, int, str]
"""The key of a row: its query, the start of its window, its district."""

COUNTED: Mapping[str, str] = {"requests": "Request", "travels": "Travel"}
"""Queries whose rows a sender can count, and the type of the events that they count."""


@dataclass
class Ledger:
    """The record of one sender, whose times only grow."""

    due: dict[Key, dict[str, Any]] = field(default_factory=dict)
    """The rows that were not seen yet; the values of those of the last window may still grow."""
    seen: int = 0
    checked: int = 0
    wrong: list[str] = field(default_factory=list)
    latest: int = -1

    def note(self, events: pa.Table) -> None:
        """Record events that are about to be sent."""
        times = events.column("time")
        windows = pc.multiply(pc.divide(times, WINDOW), WINDOW)
        table = events.select(["type", "district", "duration", "speed"]).append_column("window", windows)
        table = table.set_column(0, "type", pc.cast(table.column("type"), pa.string()))
        table = table.set_column(1, "district", pc.cast(table.column("district"), pa.string()))
        for query, kind in COUNTED.items():
            self._count(query, table.filter(pc.equal(table.column("type"), kind)))
        self.latest = max(self.latest, pc.max(times).as_py())

    def check(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Check rows that came: for each expected row of a counted query there is one, and it is right."""
        for row in rows:
            self.seen += 1
            query = row["query"]
            if query in COUNTED:
                self.checked += 1
                self._compare((query, row["window_start"], row["district"]), row)

    @property
    def complete(self) -> bool:
        return not self.due

    def _count(self, query: str, events: pa.Table) -> None:
        sums = [("duration", "count"), ("duration", "sum"), ("speed", "max")]
        for found in events.group_by(["window", "district"]).aggregate(sums).to_pylist():
            key = (query, found["window"], found["district"])
            row = self.due.setdefault(key, {"COUNT(*)": 0, "SUM(T.duration)": 0, "MAX(T.speed)": 0.0})
            row["COUNT(*)"] += found["duration_count"]
            row["SUM(T.duration)"] += found["duration_sum"]
            row["MAX(T.speed)"] = max(row["MAX(T.speed)"], found["speed_max"])

    def _compare(self, key: Key, row: Mapping[str, Any]) -> None:
        due = self.due.pop(key, None)
        if due is None:
            self.wrong.append(f"an unexpected row, or one that came twice: {dict(row)}")
            return
        differing = {name for name in due if name in row and row[name] != due[name]}
        if differing or row["window_end"] != row["window_start"] + WINDOW:
            self.wrong.append(f"{dict(row)}, but {due} is expected")
