"""`B.v < NEXT(B).v`: an event is linked to those before it by their values, so the graph keeps every event."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import Numeric, seconds, yardstick
from benchmarks.streams import one_window

NUMERICS: tuple[Numeric, ...] = ("approximate", "exact")
B = 10_000


def linked(events: int) -> Iterator[Figure]:
    """As many partitions as the events allow, 1,000 of 10 million."""
    table = one_window(max(1, events // B), B)
    y = yardstick(table)
    for numeric in NUMERICS:
        took = seconds(query(table), table, numeric)
        detail = f"{took:.2f} s, Y {y:.4f} s, {took / len(table) * 1e9:.0f} ns an event"
        yield Figure(f"linked-{numeric}", f"B.v < NEXT(B).v, {B:,} B in a window, {numeric}", took / y, 60, "Y", detail)


def doubling(events: int) -> Iterator[Figure]:
    """The same partitions with twice the events each; fewer of them, as it is their length that matters."""
    tables = {b: one_window(max(1, events // (10 * B)), b) for b in (B // 2, B, 2 * B)}
    for numeric in NUMERICS:
        took = {b: seconds(query(table), table, numeric) for b, table in tables.items()}
        for b in (B // 2, B):
            what = f"B.v < NEXT(B).v, {b:,} to {2 * b:,} B, {numeric}"
            detail = f"{took[2 * b]:.3f} s to {took[b]:.3f} s"
            yield Figure(f"doubling-{b // 1000}k-{numeric}", what, took[2 * b] / took[b], 2.4, "times", detail)


def query(table: pa.Table) -> str:
    """One window over all of it."""
    length = f"{len(table)} ms"
    where = "[partition] AND B.v < NEXT(B).v"
    return f"RETURN COUNT(*) PATTERN SEQ(A, B+, C) WHERE {where} WITHIN {length} SLIDE {length}"
