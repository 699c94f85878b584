"""`SEQ(A, B+, C)`: tumbling and sliding windows, and the three semantics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import Numeric, run, seconds, yardstick
from benchmarks.streams import MINUTE, PARTITIONS, bursts

TUMBLING = "WITHIN 1 minute SLIDE 1 minute"
HALF_HOURS = "WITHIN 30 minutes SLIDE 30 minutes"
SLIDING = "WITHIN 30 minutes SLIDE 1 minute"


def tumbling(events: int) -> Iterator[Figure]:
    table = bursts(events)
    y = yardstick(table)
    _check_fits(table)
    _check_numbers(table)
    limits: dict[Numeric, float] = {"approximate": 5, "exact": 8}
    for numeric, limit in limits.items():
        what = f"SEQ(A, B+, C), 1 minute, tumbling, {numeric}"
        yield _in_y(f"tumbling-{numeric}", what, seconds(query(TUMBLING), table, numeric), y, limit, events)


def sliding(events: int) -> Iterator[Figure]:
    table = bursts(events)
    numerics: tuple[Numeric, ...] = ("approximate", "exact")
    for numeric in numerics:
        tumbles, slides = (seconds(query(windows), table, numeric) for windows in (HALF_HOURS, SLIDING))
        what = f"WITHIN 30 min SLIDE 1 min, to SLIDE 30 min, {numeric}"
        detail = f"{slides:.3f} s to {tumbles:.3f} s, {slides / events * 1e9:.0f} ns an event"
        yield Figure(f"sliding-{numeric}", what, slides / tumbles, 2, "times", detail)


def semantics(events: int) -> Iterator[Figure]:
    table = bursts(events)
    y = yardstick(table)
    for name, written in (("next", "skip-till-next-match"), ("contiguous", "contiguous")):
        took = seconds(query(HALF_HOURS, written), table, "exact")
        yield _in_y(name, f"{written}, 30 minutes, tumbling, exact", took, y, 6, events)


def query(windows: str, semantics: str = "skip-till-any-match") -> str:
    return f"RETURN COUNT(*) PATTERN SEQ(A, B+, C) SEMANTICS {semantics} WHERE [partition] {windows}"


def _in_y(name: str, what: str, took: float, y: float, limit: float, events: int) -> Figure:
    detail = f"{took:.3f} s, Y {y:.4f} s, {took / events * 1e9:.0f} ns an event"
    return Figure(name, what, took / y, limit, "Y", detail)


def _check_fits(table: pa.Table) -> None:
    """Check that a partition has at most 62 events in a window: no more than 2^62 sets of them can be trends."""
    minutes = table["time"].to_numpy() // MINUTE
    most = np.bincount(minutes * PARTITIONS + table["partition"].to_numpy()).max()
    assert most <= 62, f"a partition has {most} events in a minute, which 62 bits may not count"


def _check_numbers(table: pa.Table) -> None:
    """Check that both kinds of numbers agree on the first windows."""
    some = table.slice(0, 100_000)
    exact, approximate = (run(query(TUMBLING), some, numeric).rows() for numeric in ("exact", "approximate"))
    counts = [[row["COUNT(*)"] for row in rows] for rows in (exact, approximate)]
    np.testing.assert_allclose(counts[1], counts[0], rtol=1e-9)
