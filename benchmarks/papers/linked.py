"""`B.v < NEXT(B).v`: an event is linked to earlier ones by their values, so the graph keeps every event."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import Numeric, seconds, yardstick
from benchmarks.streams import one_window

NUMERICS: tuple[Numeric, ...] = ("approximate", "exact")
B = 10_000


def linked(events: int) -> Iterator[Figure]:
    """Yield the cost over as many partitions as the events allow, 1,000 for 10 million."""
    table = one_window(max(1, events // B), B)
    y = yardstick(table)
    for numeric in NUMERICS:
        took = seconds(query(table), table, numeric)
        detail = f"{took:.2f} s, Y {y:.4f} s, {took / len(table) * 1e9:.0f} ns an event"
        yield Figure(f"linked-{numeric}", f"B.v < NEXT(B).v, {B:,} B in a window, {numeric}", took / y, 60, "Y", detail)


def doubling(events: int) -> Iterator[Figure]:
    """Yield the growth with twice the events in each of fewer partitions, as only the length of a partition matters."""
    tables = {b: one_window(max(1, events // (10 * B)), b) for b in (B // 2, B, 2 * B)}
    for numeric in NUMERICS:
        took = {b: seconds(query(table), table, numeric) for b, table in tables.items()}
        for b in (B // 2, B):
            what = f"B.v < NEXT(B).v, {b:,} to {2 * b:,} B, {numeric}"
            detail = f"{took[2 * b]:.3f} s to {took[b]:.3f} s"
            yield Figure(f"doubling-{b // 1000}k-{numeric}", what, took[2 * b] / took[b], 2.4, "times", detail)


def query(table: pa.Table) -> str:
    """Return a query with one window over the whole table."""
    length = f"{len(table)} ms"
    where = "[partition] AND B.v < NEXT(B).v"
    return f"RETURN COUNT(*) PATTERN SEQ(A, B+, C) WHERE {where} WITHIN {length} SLIDE {length}"
