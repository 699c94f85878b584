"""`python -m benchmarks.calibrate_plans`: what the parts of plans cost on this machine, for the cost model of `auto`.

Workloads are run over streams of bursts by several plans; the costs are those that explain the times best (least
squares of relative errors, none below zero). What bursts cost in a graphlet is `benchmarks.calibrate`'s to tell.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from time import process_time

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from actors.engine import Engine
from benchmarks.calibrate import nnls
from benchmarks.gloria import mixed, stream
from cluster.costs import burst_costs, plan_costs_file
from elsinore.bench.gloria_streams import bursty, complex_queries, simple_queries
from planner.auto import decided
from planner.check import check_text
from planner.clock import Clock
from planner.drift import Observed
from planner.gloria.engine_cost import EngineCost
from planner.gloria.statistics import Statistics
from planner.optimizers import optimizer_of
from planner.plan import Plan, plan
from planner.plan_costs import PlanCosts
from planner.plan_model import PlanModel

EVENTS = 40_000
WINDOWS = (8, 40)
"""In the stream."""
SIZES = (1, 10, 100)
QUERIES = (8, 40, 120)
STRATEGIES = ("cogra", "hamlet", "gloria", "gloria-greedy", "chop-connect")
NUMERIC = "approximate"

WORKLOADS = {"simple": simple_queries, "complex": complex_queries, "mixed": mixed}

NAMES = tuple(one.name for one in fields(PlanCosts))
NOTHING = PlanCosts(**dict.fromkeys(NAMES, 0.0))


def measurements() -> Iterator[tuple[npt.NDArray[np.float64], float]]:
    """What a window is made of, by cost, and the nanoseconds that it took, less what is known of its bursts."""
    for (form, make), windows, size, queries in product(WORKLOADS.items(), WINDOWS, SIZES, QUERIES):
        text = make(queries)
        rate = EVENTS // windows
        table = stream(EVENTS, size, rate) if form == "mixed" else bursty(EVENTS, rate, size)
        (events,) = table.combine_chunks().to_batches()
        for made in plans(text):
            took, seen = nanoseconds(made, events, rate)
            statistics = seen.per_window(made.spans[-1])
            known = cost(made, statistics, NOTHING)
            parts = np.array([cost(made, statistics, replace(NOTHING, **{name: 1.0})) for name in NAMES])
            print(f"{form} {queries} queries, {windows} windows, bursts of {size}, {made.strategy}: {took:,.0f} ns")
            yield parts - known, max(took - known, took / 10)


def cost(made: Plan, statistics: Statistics, costs: PlanCosts) -> float:
    model = PlanModel.of(made.queries, EngineCost(statistics, costs, burst_costs()))
    return model.cost(dict(enumerate(made.queries)), made.share_sets)


def plans(text: str) -> Iterator[Plan]:
    """By several strategies, and the sharing plans that the engine's own model finds best."""
    workload = check_text(text)
    for strategy in STRATEGIES:
        yield plan(workload, strategy)
    queries = plan(workload, "cogra").queries
    made = plan(workload, "gloria", PlanModel.of(queries).gloria)
    yield replace(made, share_sets=tuple(decided(one, PlanCosts()) for one in made.share_sets))


def nanoseconds(made: Plan, events: pa.RecordBatch, window: int) -> tuple[float, Observed]:
    """Of a window, behind the first one; and what the stream was like."""
    best, seen = np.inf, None
    for _ in range(2):
        engine = Engine(made, Clock.of(pa.int64(), "ms", made.spans), NUMERIC, 0, optimizer_of(made.strategy))
        engine.feed(events.slice(0, window))
        begin = process_time()
        engine.feed(events.slice(window))
        best = min(best, process_time() - begin)
        seen = engine.statistics.take()
    assert seen is not None
    return best * 1e9 * window / (len(events) - window), seen


def calibrated() -> PlanCosts:
    parts, times = (np.array(column) for column in zip(*measurements(), strict=True))
    weighted = parts / times[:, None]
    found = nnls(weighted, np.ones(len(times)))
    errors = np.abs(weighted @ found - 1)
    print(f"relative error: median {np.median(errors):.2f}, worst {errors.max():.2f}", file=sys.stderr)
    return PlanCosts(**{name: round(float(cost), 2) for name, cost in zip(NAMES, found, strict=True)})


def main() -> None:
    costs, path = calibrated(), plan_costs_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(costs.to_dict(), indent=2) + "\n")
    print(f"{path}: {costs}")


if __name__ == "__main__":
    main()
