"""Bursty streams as Arrow tables: times in milliseconds at a steady rate, partitions at random.

In each partition, bursts of events of one recurring type alternate with single events of other types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.bench.hamlet.workloads import ENDS, KLEENE, OTHERS, RECURRING, SPEEDS, STARTS
from elsinore.connectors.ridesharing import SCHEMA, TYPES, generate

MINUTE_MS = 60_000
"""A minute in milliseconds, the unit of the times of all streams here except `rides`."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Phase:
    """The properties of a stream during one phase."""

    burst: float
    """Mean number of events of a burst."""
    speeds: tuple[float, float] = (0, 60)
    """Range of speeds, relative to the speeds in the queries' predicates: below all, above all, or between."""


STEADY = (Phase(120),)

SLOW, FAST, MIXED = (0.0, 0.9 * SPEEDS[0]), (SPEEDS[-1], 2.0 * SPEEDS[-1]), (0.0, 1.5 * SPEEDS[-1])
FLUCTUATING = (
    *(Phase(160, SLOW), Phase(120, FAST), Phase(8, SLOW), Phase(160, SLOW), Phase(120, MIXED)),
    *(Phase(120, FAST), Phase(160, SLOW), Phase(8, MIXED), Phase(160, FAST), Phase(120, SLOW)),
)
"""Phases of long and short bursts, of which predicates accept all events, none, or some."""

PHASE_MS = 2 * MINUTE_MS


def rides(events: int, rate: float, groups: int, burst: float) -> pa.Table:
    """Return HAMLET's ridesharing stream, with times in seconds."""
    return pa.Table.from_batches(list(generate(events, rate=rate, groups=groups, burst=burst)), SCHEMA)


def shared_bursts(events: int, rate: float, partitions: int, burst: float = 120, seed: int = 5) -> pa.Table:
    """Return a stream for workloads that share Travel T+: bursts of Travel, and single events of the 19 other types."""
    return bursts(np.random.default_rng(seed), events, rate, partitions, ((KLEENE,), OTHERS), (Phase(burst),))


def fluctuating(events: int, rate: float, partitions: int, seed: int = 6) -> pa.Table:
    """Return a stream for diverse workloads: phases of two minutes with different bursts and values."""
    singles = tuple(name for name in (*STARTS, *ENDS) if name)
    return bursts(np.random.default_rng(seed), events, rate, partitions, (RECURRING, singles), FLUCTUATING)


def bursts(
    random: np.random.Generator,
    events: int,
    rate: float,
    partitions: int,
    types: tuple[Sequence[str], Sequence[str]],
    phases: Sequence[Phase],
) -> pa.Table:
    """Return a bursty stream; `types` holds the recurring types, and the types of single events."""
    times = (np.arange(events) * (MINUTE_MS / rate)).astype(np.int64)
    phase = times // PHASE_MS % len(phases)
    partition = random.integers(0, partitions, events)
    low, high = (np.array([each.speeds[end] for each in phases])[phase] for end in (0, 1))
    return pa.table(
        {
            "type": _types(random, partition, np.array([each.burst for each in phases])[phase], types),
            "time": times,
            "partition": partition,
            "speed": np.round(random.uniform(low, high), 2),
            "duration": random.integers(1, 600, events),
            "price": np.round(random.uniform(3, 80, events), 2),
        }
    )


def _types(
    random: np.random.Generator,
    partition: Ints,
    burst: npt.NDArray[np.float64],
    types: tuple[Sequence[str], Sequence[str]],
) -> pa.DictionaryArray:
    """Return the event types: random events are single ones, which end bursts; all others of a burst have one type."""
    recurring, singles = types
    order = np.argsort(partition, kind="stable")
    single = random.random(len(order)) < 1 / (1 + burst[order])
    runs = np.cumsum(single)
    of_run = random.integers(0, len(recurring), len(order) + 1)
    codes = np.where(single, len(recurring) + random.integers(0, len(singles), len(order)), of_run[runs])
    unsorted = np.empty(len(order), np.int32)
    unsorted[order] = codes
    names = [*recurring, *singles]
    assert set(names) <= set(TYPES)
    return pa.DictionaryArray.from_arrays(pa.array(unsorted), pa.array(names))
