"""Simple and complex queries over bursty streams, like those in GLORIA's comparison with HAMLET (Section 8.2)."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa

from elsinore.bench.gloria.workloads import statistics

KLEENE = "T"
TYPES_PER_SIDE = 10
STARTS, ENDS = ([f"{side}{number}" for number in range(TYPES_PER_SIDE)] for side in ("S", "E"))
LEFT, RIGHT = ([f"{side}{number}" for number in range(5)] for side in ("L", "R"))
"""Types of longer patterns, before and after the Kleene sub-pattern."""
LENGTH = 8
SPEEDS = (20, 40, 60, 80)
TYPES = (KLEENE, *STARTS, *ENDS, *LEFT, *RIGHT)
WINDOWS = "WITHIN 1 minute SLIDE 1 minute"
WINDOW = Fraction(60)
MINUTE_MS = 60_000


def simple_queries(queries: int) -> str:
    """Return queries SEQ(X, T+, Y) without predicates."""
    pairs = (
        (STARTS[number % TYPES_PER_SIDE], ENDS[number // TYPES_PER_SIDE % TYPES_PER_SIDE]) for number in range(queries)
    )
    return "; ".join(f"RETURN COUNT(*) PATTERN SEQ({start}, {KLEENE}+, {end}) {WINDOWS}" for start, end in pairs)


def complex_queries(queries: int, seed: int = 1) -> str:
    """Return flat Kleene patterns of 8 types with different predicates; half begin with a type that few others have."""
    random = Random(seed)
    return "; ".join(_complex(random, SPEEDS[number % len(SPEEDS)]) for number in range(queries))


def _complex(random: Random, speed: int) -> str:
    before = random.randint(LENGTH - 1 - len(RIGHT), len(LEFT))
    parts = [*LEFT[-before:], f"{KLEENE}+", *RIGHT[: LENGTH - 1 - before]]
    if random.random() < 0.5:
        parts[0] = random.choice(STARTS)
    return f"RETURN COUNT(*) PATTERN SEQ({', '.join(parts)}) WHERE {KLEENE}.speed < {speed} {WINDOWS}"


def both(queries: int, percent: float) -> str:
    """Return a workload of simple queries and a percentage of complex ones."""
    complicated = round(queries * percent / 100)
    parts = (simple_queries(queries - complicated), complex_queries(complicated))
    return "; ".join(part for part in parts if part)


def bursty(events: int, rate: float, burst: int, seed: int = 5) -> pa.Table:
    """Return bursts of the Kleene type with one event of another type between them; times in milliseconds."""
    random = np.random.default_rng(seed)
    parting = np.arange(events) % (burst + 1) == burst
    codes = np.where(parting, random.integers(1, len(TYPES), events), 0).astype(np.int32)
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(TYPES)),
            "time": (np.arange(events) * (MINUTE_MS / rate)).astype(np.int64),
            "speed": random.integers(0, 100, events),
        }
    )


def recurring(events: int, rate: float, burst: int, seed: int = 7) -> pa.Table:
    """Return a stream for mixed workloads: bursts of all their types, some far more frequent than others."""
    random = np.random.default_rng(seed)
    counts = statistics().counts
    share = np.array(list(counts.values()))
    of_burst = random.choice(len(share), events // burst + 1, p=share / share.sum())
    codes = np.repeat(of_burst, burst)[:events].astype(np.int32)
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(counts))),
            "time": (np.arange(events) * (MINUTE_MS / rate)).astype(np.int64),
        }
    )
