"""A-Seq: prefix counters by start event compared with two stacks; long sequences with short ones; sharing with none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import best, run

TYPES = tuple("ABCDEFGHIJ")
SHORT, LONG = 2, 10
FEW, MANY = 100, 5_000
"""Numbers of events in a window."""
QUERIES, COMMON = 6, TYPES[:6]
OWN = tuple(f"OWN{number}" for number in range(QUERIES))
RARE = 0.02
"""Frequency of an event that ends a pattern, relative to any other event."""
BURST, PANE = 50, 20_000
"""Average events in a burst, and milliseconds of a window, for windows of panes."""


def aseq(events: int) -> Iterator[Figure]:
    table = stream(max(events // 5, 10 * MANY), dict.fromkeys(TYPES, 1.0))
    yield from _long(table)
    yield from _two_stacks(table)
    yield from _shared(len(table))


def _long(table: pa.Table) -> Iterator[Figure]:
    """Yield the cost of longer sequences, over the same events."""
    for name, window in (("sliding", "WITHIN 1000 ms SLIDE 1000 ms"), ("moving", "WITHIN 1000 ms")):
        short, long = (_seconds([TYPES[:length]], window, table, "a-seq") for length in (SHORT, LONG))
        what = f"a-seq, {window}, {SHORT} types to {LONG}"
        yield Figure(f"a-seq-length-{name}", what, long / short, 3, "times", _each(short, long))


def _two_stacks(table: pa.Table) -> Iterator[Figure]:
    for size in (FEW, MANY):
        stacks, rows = (_seconds([TYPES[:5]], f"WITHIN {size} ms", table, name) for name in ("cogra", "a-seq"))
        what = f"SEQ of 5, WITHIN {size:,} events, two stacks to a-seq"
        yield Figure(f"two-stacks-to-a-seq-{size}", what, stacks / rows, 1, "times", _each(stacks, rows), at_least=True)


def _shared(events: int) -> Iterator[Figure]:
    """Yield the gain of sharing.

    Where windows move, rare events end the patterns, because an answer at every event would have other costs.
    """
    ends = [(*COMMON, own) for own in OWN]
    begins = [(own, *COMMON) for own in OWN]
    alike = dict.fromkeys((*COMMON, *OWN), 1.0)
    moving, panes = f"WITHIN {MANY} ms", f"WITHIN {PANE} ms SLIDE {PANE} ms"
    bursts = stream(events, alike, BURST)
    rare_own, rare_common = (stream(events, alike | dict.fromkeys(rare, RARE)) for rare in (OWN, COMMON[-1:]))
    for name, strategy, limit, patterns, window, table in (
        ("prefix-moving", "prefix", 5, ends, moving, rare_own),
        ("prefix-panes", "prefix", 5, ends, panes, bursts),
        ("substring-moving", "chop-connect", 2.6, begins, moving, rare_common),
        ("substring-panes", "chop-connect", 2.6, begins, panes, bursts),
    ):
        apart, shared = (_seconds(patterns, window, table, one) for one in ("a-seq", strategy))
        what = f"{QUERIES} queries, {len(COMMON)} types in common, a-seq to {strategy}"
        yield Figure(name, what, apart / shared, limit, "times", _each(apart, shared), at_least=True)


def stream(events: int, shares: Mapping[str, float], burst: int = 1, seed: int = 7) -> pa.Table:
    """Return a stream with an event every millisecond, in runs of one type of `burst` events on average."""
    random = np.random.default_rng(seed)
    weights = np.array(list(shares.values()))
    runs = np.cumsum(random.random(events) < 1 / burst)
    codes = random.choice(len(weights), int(runs[-1]) + 1, p=weights / weights.sum()).astype(np.int32)[runs]
    types = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(shares)))
    return pa.table({"type": types, "time": np.arange(events)})


def _seconds(patterns: Sequence[Sequence[str]], window: str, table: pa.Table, strategy: str) -> float:
    """Return seconds for an event, with kernels compiled, without the time to make a plan and to begin."""
    workload = "; ".join(f"RETURN COUNT(*) PATTERN SEQ({', '.join(one)}) {window}" for one in patterns)
    run(workload, table.slice(0, 2 * MANY), "exact", strategy)
    start_up = best(lambda: run(workload, table.slice(0, 1), "exact", strategy))
    return (best(lambda: run(workload, table, "exact", strategy), 5) - start_up) / len(table)


def _each(one: float, other: float) -> str:
    return f"{one * 1e9:,.0f} ns to {other * 1e9:,.0f} ns an event"
