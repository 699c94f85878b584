"""Streams with their workloads, as close to those of HAMLET's evaluation as possible."""

from __future__ import annotations

from elsinore.bench.hamlet.streams import fluctuating, rides, shared_bursts
from elsinore.bench.hamlet.workloads import PANE_MINUTES, diverse, shared_kleene
from elsinore.bench.setting import Setting

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

SETTINGS = (RIDES, TAXIS, HOMES, STOCKS)
