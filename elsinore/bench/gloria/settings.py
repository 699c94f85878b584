"""Streams with their workloads, as close to those of GLORIA's evaluation as possible."""

from __future__ import annotations

from elsinore.bench.gloria.streams import bursty, recurring, simple_queries
from elsinore.bench.gloria.workloads import mixed
from elsinore.bench.setting import Setting

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

SETTINGS = (BURSTY, MIXED)
