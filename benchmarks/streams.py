"""Streams of A, B and C as Arrow tables: int64 times in milliseconds, an int64 partition, a dictionary of types."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

PARTITIONS = 1_000
RATE = 25_000
"""Events a minute: 25 in each partition, so that the counts of a partition in a minute fit 62 bits."""

MINUTE = 60_000
TYPES = ("A", "B", "C")
Ints = npt.NDArray[np.int64]


def typed(random: np.random.Generator, events: int, share: float) -> pa.DictionaryArray:
    """Return random types: the given share is B, and there are as many A as C."""
    rest = (1 - share) / 2
    codes = random.choice(len(TYPES), events, p=[rest, share, rest]).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(TYPES))


def steady(first: int, events: int, rate: int = RATE) -> Ints:
    """Return times at a steady rate, which continues from the `first` events before."""
    return np.arange(first, first + events, dtype=np.int64) * MINUTE // rate


@lru_cache(maxsize=1)
def bursts(events: int) -> pa.Table:
    """Return a stream in which eight in ten events are B; partitions are random."""
    random = np.random.default_rng(1)
    return part(random, 0, events)


def part(random: np.random.Generator, first: int, events: int) -> pa.Table:
    """Return a piece of `bursts`, from its `first` event on."""
    return pa.table(
        {
            "type": typed(random, events, 0.8),
            "time": steady(first, events),
            "partition": random.integers(0, PARTITIONS, events),
        }
    )


def one_window(partitions: int, b_each: int) -> pa.Table:
    """Return partitions of about `b_each` events B with random values; one in a hundred events is A, another is C.

    All events happen within as many milliseconds as there are events.
    """
    random = np.random.default_rng(2)
    events = round(partitions * b_each / 0.98)
    return pa.table(
        {
            "type": typed(random, events, 0.98),
            "time": np.arange(events),
            "partition": random.integers(0, partitions, events),
            "v": random.integers(0, 1_000_000, events),
        }
    )


def alone(events: int) -> pa.Table:
    """Return a stream of one partition, with an event every millisecond."""
    random = np.random.default_rng(3)
    return pa.table(
        {
            "type": typed(random, events, 0.8),
            "time": np.arange(events),
            "partition": np.zeros(events, dtype=np.int64),
        }
    )
