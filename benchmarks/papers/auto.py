"""`auto` over bursts of 1 to 200 events and workloads of which 0 to 100 % is complex (GLORIA, Figure 19).

It is compared with the better of HAMLET and GLORIA at each point. `auto` and GLORIA know the rates of the stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import process_time

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure
from elsinore.actors.engine import Engine
from elsinore.actors.streams.statistics import StreamStatistics
from elsinore.bench.gloria.streams import WINDOW, both, bursty
from elsinore.planner.checks.check import check_text
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

QUERIES = 100
PERCENT, BURSTS = (0, 25, 50, 75, 100), (1, 5, 20, 50, 100, 200)
RATE = 5_000
"""Events a minute, which is the length of a window."""
WINDOWS = 12
TIMES = 3
LIMIT = 1.05


def auto(_: int) -> Iterator[Figure]:
    """Yield a figure for each share of complex queries: the worst ratio over all lengths of bursts."""
    for percent in PERCENT:
        ratios = {burst: ratio(percent, burst) for burst in BURSTS}
        detail = ", ".join(f"{burst}: {one:.2f}" for burst, one in ratios.items())
        what = f"{percent} % complex queries, auto to the better of hamlet and gloria"
        yield Figure(f"auto-{percent}", what, max(ratios.values()), LIMIT, "times", detail)


def ratio(percent: float, burst: int) -> float:
    text = both(QUERIES, percent)
    (events,) = bursty(WINDOWS * RATE, RATE, burst).combine_chunks().to_batches()
    taken = seconds(plans(text, statistics(events)), events)
    return taken["auto"] / min(taken["hamlet"], taken["gloria"])


def plans(text: str, seen: Statistics) -> dict[str, Plan]:
    models = {"hamlet": None, "gloria": PaperCost(seen), "auto": EngineCost(seen)}
    return {name: plan(check_text(text), name, model) for name, model in models.items()}


def statistics(events: pa.RecordBatch) -> Statistics:
    counted = StreamStatistics(Clock.of(pa.int64(), "ms", [WINDOW]))
    counted.note(events.column(0), events.column(1))
    seen = counted.read_and_reset()
    assert seen is not None
    return seen.per_window(WINDOW)


def seconds(made: Mapping[str, Plan], events: pa.RecordBatch) -> dict[str, float]:
    """Return the processor time after the first window, the least of several runs.

    The plans run in turn, so that the machine is the same for all.
    """
    found = dict.fromkeys(made, np.inf)
    for _ in range(TIMES):
        for name, one in made.items():
            engine = Engine(one, Clock.of(pa.int64(), "ms", one.spans), "approximate", 0, optimizer_of(one.strategy))
            engine.feed(events.slice(0, RATE))
            begin = process_time()
            engine.feed(events.slice(RATE))
            found[name] = min(found[name], process_time() - begin)
    return found
