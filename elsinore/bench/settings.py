"""Streams with their workloads, as close to those of the HAMLET and GLORIA papers as possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from elsinore.bench.gloria_streams import bursty, recurring, simple_queries
from elsinore.bench.gloria_workloads import mixed
from elsinore.bench.streams import fluctuating, rides, shared_bursts
from elsinore.bench.workloads import PANE_MINUTES, diverse, shared_kleene


@dataclass(frozen=True)
class Setting:
    """A stream and a workload over it, for any rate and number of queries."""

    name: str
    stream: str
    events: Callable[[int, float], pa.Table]
    """Returns the stream with a number of events, at a rate in events per minute."""
    workload: Callable[[int], str]
    """Returns the workload with a number of queries."""
    minutes: float
    """Length of the stream."""
    pane: float
    """Length of a pane in minutes; windows begin and end at multiples of it."""
    time_unit: str
    numeric: Literal["exact", "approximate"]

    @property
    def what(self) -> str:
        return f"{self.stream}; {self.numeric} numbers"


SHORT = "WITHIN 20 seconds SLIDE 20 seconds"

RIDES = Setting(
    "Ridesharing",
    "the ridesharing stream, bursts of 10 events, 2,500 pairs of a driver and a rider; SEQ(X, Travel T+, Y), "
    f"{SHORT}, so that all trends can be constructed at the lower rates",
    lambda events, rate: rides(events, rate, groups=2_500, burst=10),
    lambda queries: shared_kleene(
        queries, "WHERE [driver, rider] GROUP-BY district WITHIN 20 seconds SLIDE 20 seconds"
    ),
    minutes=3,
    pane=1 / 3,
    time_unit="s",
    numeric="exact",
)

TAXIS = Setting(
    "NYC",
    "a stream made up at the rate of the taxi and Uber trips, bursts of 120 events, 2 partitions; "
    "SEQ(X, Travel T+, Y), WITHIN 30 minutes SLIDE 30 minutes",
    lambda events, rate: shared_bursts(events, rate, partitions=2),
    lambda queries: shared_kleene(queries, "WHERE [partition] WITHIN 30 minutes SLIDE 30 minutes"),
    minutes=60,
    pane=30,
    time_unit="ms",
    numeric="approximate",
)

HOMES = Setting(
    "Smart Home",
    "a stream made up at the rate of the smart homes, bursts of 120 events, 40 partitions; "
    "SEQ(X, Travel T+, Y), WITHIN 2 minutes SLIDE 2 minutes",
    lambda events, rate: shared_bursts(events, rate, partitions=40),
    lambda queries: shared_kleene(queries, "WHERE [partition] WITHIN 2 minutes SLIDE 2 minutes"),
    minutes=4,
    pane=2,
    time_unit="ms",
    numeric="approximate",
)

STOCKS = Setting(
    "Stock",
    "a stream made up at the rate of the stock data, 4 partitions, phases of long and short bursts, and of predicates "
    "that let through all events, none, or some; Kleene patterns of 1 to 3 types, windows of 5 to 20 minutes",
    lambda events, rate: fluctuating(events, rate, partitions=4),
    diverse,
    minutes=60,
    pane=PANE_MINUTES,
    time_unit="ms",
    numeric="approximate",
)

BURSTY = Setting(
    "Bursty",
    "a made-up stream, bursts of T with single events of 30 other types between them. Simple queries: SEQ(X, T+, Y). "
    "Complex ones: 8 types in a row, T+ among them, with T.speed below 20, 40, 60 or 80. WITHIN 1 minute SLIDE 1 "
    "minute; 100 queries. Plans of GLORIA, and of auto, are told the rates of all types",
    lambda events, rate: bursty(events, rate, burst=100),
    simple_queries,
    minutes=3,
    pane=1,
    time_unit="ms",
    numeric="approximate",
)

MIXED = Setting(
    "Mixed",
    "a made-up stream, bursts of 5 events, types that come one to a hundred times in a window; queries of 5 to 10 "
    "types, one with Kleene to six without. WITHIN 10 minutes SLIDE 5 minutes. Plans are told the rates of all types",
    lambda events, rate: recurring(events, rate, burst=5),
    lambda queries: "; ".join(mixed(queries)),
    minutes=30,
    pane=5,
    time_unit="ms",
    numeric="approximate",
)

SETTINGS = {setting.name: setting for setting in (RIDES, TAXIS, HOMES, STOCKS, BURSTY, MIXED)}
