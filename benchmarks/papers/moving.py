"""Windows that move with every event: the cost of an event must not grow with the events in its window."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.measure import seconds
from benchmarks.streams import alone

FEW, MANY = 1_000, 100_000


def moving(events: int) -> Iterator[Figure]:
    """Yield the growth, over at least ten times the events of the larger window, so that filling it does not count."""
    table = alone(max(events // 10, 10 * MANY))
    few, many = (seconds(query(size), table, "exact") / len(table) for size in (FEW, MANY))
    what = f"SEQ(A, B, C) WITHIN, from {FEW:,} to {MANY:,} events"
    yield Figure("moving", what, many / few, 1.5, "times", f"{many * 1e9:.0f} ns to {few * 1e9:.0f} ns an event")


def query(size: int) -> str:
    """Return a query with a window of so many events, one every millisecond."""
    return f"RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE [partition] WITHIN {size} ms"
