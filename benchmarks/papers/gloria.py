"""GLORIA: the gain of sharing plans over a mixed workload, compared with separate queries and with a greedy plan."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import Numeric, run
from benchmarks.papers.gloria_planning import planning
from benchmarks.streams import steady
from elsinore.api import prepare

QUERIES = 120
TYPES = tuple("ABCDEFGHIJKL")
SHORTEST, LONGEST = 5, 8
"""Least and greatest number of types in a sequence."""
BURST = 120
"""Average events in a burst, as in HAMLET's stock data."""
RATE = 20_000
"""Events a minute, all of one partition; a window has as many."""
GRETAS_RATE = 2_000
WINDOWS = "WITHIN 1 minute SLIDE 1 minute"


def gloria(events: int) -> Iterator[Figure]:
    yield from planning(events)
    yield from _running(events)


def _running(events: int) -> Iterator[Figure]:
    """Yield the gain over other strategies.

    GRETA runs queries apart, and searches the events before each event, so it is measured on few, small windows.
    """
    workload, table = mixed(), stream(max(RATE, events // 5))
    few = stream(5 * GRETAS_RATE, rate=GRETAS_RATE)
    for numeric in NUMERICS:
        taken = {name: _seconds(workload, table, name, numeric) for name in ("gloria", "gloria-greedy", "cogra")}
        taken["greta"] = _seconds(workload, few, "greta", numeric, 1)
        for name, limit in (("greta", 10), ("gloria-greedy", 3), ("cogra", 1)):
            what = f"{QUERIES} mixed queries, {name} to gloria, {numeric}"
            detail = f"{taken[name] * 1e9:,.0f} ns to {taken['gloria'] * 1e9:,.0f} ns an event"
            measured = taken[name] / taken["gloria"]
            yield Figure(f"{name}-to-gloria-{numeric}", what, measured, limit, "times", detail, at_least=True)


NUMERICS: tuple[Numeric, ...] = ("approximate", "exact")


def mixed(queries: int = QUERIES, seed: int = 1) -> str:
    """Return a workload of sequences, flat Kleene and nested Kleene, a third each, over parts of one order of types."""
    random = Random(seed)
    return "; ".join(_query(random, number % 3) for number in range(queries))


def _query(random: Random, form: int) -> str:
    length = random.randint(SHORTEST, LONGEST)
    first = random.randrange(len(TYPES) - length + 1)
    parts = list(TYPES[first : first + length])
    if form:
        # The loop is one of few sub-patterns, so that queries have it in common.
        place = min(max(4 * (first // 4 + 1) - first, 1), length - 3)
        loop = f"{parts[place]}+" if form == 1 else f"(SEQ({parts[place]}, {parts[place + 1]}+))+"
        parts[place : place + form] = [loop]
    return f"RETURN COUNT(*) PATTERN SEQ({', '.join(parts)}) {WINDOWS}"


def stream(events: int, burst: float = BURST, rate: int = RATE, seed: int = 5) -> pa.Table:
    """Return a stream of all types in bursts."""
    random = np.random.default_rng(seed)
    runs = np.cumsum(random.random(events) < 1 / burst)
    codes = random.integers(0, len(TYPES), int(runs[-1]) + 1).astype(np.int32)[runs]
    types = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(TYPES))
    return pa.table({"type": types, "time": steady(0, events, rate)})


def _seconds(workload: str, table: pa.Table, strategy: str, numeric: Numeric, times: int = 3) -> float:
    """Return seconds for an event, with kernels compiled and a plan made: planning takes longer, and varies."""
    run(workload, table.slice(0, RATE), numeric, strategy)
    return min(_once(workload, table, strategy, numeric) for _ in range(times)) / len(table)


def _once(workload: str, table: pa.Table, strategy: str, numeric: Numeric) -> float:
    reading: Any = {"lateness": 0, "time_unit": "ms", "settings": {"cores": 1}}
    job = prepare(workload, table, engine="local", strategy=strategy, numeric=numeric, **reading)
    begin = process_time()
    for _ in job.run:
        pass
    return process_time() - begin
