"""`python -m benchmarks.costs.plans`: measures the parts of plans on this machine, for the cost model of `auto`.

Workloads are run over streams of bursts by several plans. The costs are those that best explain by how much the plans
differ from the quickest one, and, with less weight, how long each takes (least squares, none below zero).
`benchmarks.costs.bursts` measures what bursts cost in a graphlet.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from time import process_time

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.costs.bursts import nnls
from benchmarks.papers.auto import statistics
from benchmarks.papers.everyday import BOARD
from benchmarks.papers.gloria import mixed, stream
from elsinore.actors.engine import Engine
from elsinore.bench.gloria.streams import both, bursty, complex_queries, simple_queries
from elsinore.cluster.machines.costs import burst_costs, plan_costs_file
from elsinore.connectors.ridesharing import generate
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.costs.plan_model import cost_of
from elsinore.planner.costs.workload_costs import WorkloadCosts
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.auto import decided, seeing_panes
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

EVENTS = 40_000
WINDOWS = (8, 40)
"""Numbers of windows in a stream."""
SIZES = (1, 5, 20, 100)
QUERIES = (8, 40, 120)
STRATEGIES = ("cogra", "hamlet", "gloria", "gloria-greedy", "chop-connect")
NUMERIC = "approximate"

WORKLOADS = {
    "simple": simple_queries,
    "complex": complex_queries,
    "both": lambda queries: both(queries, 50),
    "mixed": mixed,
}

RIDE_EVENTS = 100_000
RIDE_BURSTS = (3.0, 10.0, 40.0)
"""Mean numbers of events of a type that follow each other in a ride."""

RIDES = {
    "board": BOARD,
    "half of the board": "QUERY".join(BOARD.split("QUERY")[:5]),
    "tumbling board": re.sub(r"WITHIN \d minutes SLIDE 1 minute", "WITHIN 4 minutes SLIDE 4 minutes", BOARD),
    "counting board": re.sub(r"RETURN district.*", "RETURN district, COUNT(*)", BOARD),
    "board of short slides": BOARD.replace("SLIDE 1 minute", "SLIDE 20 seconds"),
}

ABSOLUTE = 0.3
"""Weight of the time that a plan takes, relative to its difference from the quickest plan."""

NAMES = tuple(one.name for one in fields(PlanCosts))
NOTHING = PlanCosts(**dict.fromkeys(NAMES, 0.0))


Measured = list[tuple[npt.NDArray[np.float64], float, float]]
"""For each plan: the parts of a window, by cost; the known cost of its bursts; and the nanoseconds that it took."""


def measurements() -> Iterator[Measured]:
    """Yield a list of measured plans for each workload over a stream."""
    for (form, make), windows, size, queries in product(WORKLOADS.items(), WINDOWS, SIZES, QUERIES):
        rate = EVENTS // windows
        table = stream(EVENTS, size, rate) if form == "mixed" else bursty(EVENTS, rate, size)
        (events,) = table.combine_chunks().to_batches()
        seen = statistics(events)
        yield [measured(made, events, seen, rate, windows - 1, NUMERIC) for made in plans(make(queries), seen)]
        print(f"{form} {queries} queries, {windows} windows, bursts of {size}", file=sys.stderr)
    yield from of_rides()


def of_rides() -> Iterator[Measured]:
    """Yield measured plans for queries over rides: partitions of few events, each alive in few windows."""
    for (form, text), burst, numeric in product(RIDES.items(), RIDE_BURSTS, ("approximate", "exact")):
        (events,) = pa.Table.from_batches(generate(RIDE_EVENTS, seed=2, burst=burst)).combine_chunks().to_batches()
        made = plan(check_text(text), "cogra")
        engine = Engine(made, Clock.of(pa.int64(), "s", made.spans))
        observed = engine.look(events)
        assert observed is not None
        seen = observed.per_window(max(one.query.within.length for one in made.queries))
        first = len(events) // 4
        windows = WorkloadCosts.of(made.queries, EngineCost(seen)).windows(len(events) - first)
        some = [seeing_panes(one, EngineCost(seen)) for one in plans(text, seen)]
        yield [measured(one, events, seen, first, windows, numeric, "s") for one in some]
        print(f"{form} of rides, bursts of {burst:g}, {numeric}", file=sys.stderr)


def measured(
    made: Plan, events: pa.RecordBatch, seen: Statistics, first: int, windows: float, numeric: str, unit: str = "ms"
) -> tuple[npt.NDArray[np.float64], float, float]:
    known = cost(made, seen, NOTHING)
    parts = np.array([cost(made, seen, replace(NOTHING, **{name: 1.0})) - known for name in NAMES])
    return parts, known, nanoseconds(made, events, first, numeric, unit) / windows


def cost(made: Plan, statistics: Statistics, costs: PlanCosts) -> float:
    own = WorkloadCosts.of(made.queries, EngineCost(statistics, costs, burst_costs()))
    return cost_of(dict(enumerate(made.queries)), made.share_sets, own)


def plans(text: str, seen: Statistics) -> Iterator[Plan]:
    """Yield plans of several strategies, with and without statistics, and with decisions about bursts."""
    workload = check_text(text)
    for strategy in STRATEGIES:
        yield plan(workload, strategy)
    yield plan(workload, "auto", EngineCost(seen))
    for model in (PaperCost(seen), WorkloadCosts.of(plan(workload, "cogra").queries, EngineCost(seen)).gloria):
        made = plan(workload, "gloria", model)
        yield made
        yield replace(made, share_sets=tuple(decided(one, PlanCosts()) for one in made.share_sets))


def nanoseconds(made: Plan, events: pa.RecordBatch, first: int, numeric: str, unit: str) -> float:
    """Return the nanoseconds that events take after the first ones."""
    best = np.inf
    for _ in range(2):
        engine = Engine(made, Clock.of(pa.int64(), unit, made.spans), numeric, 0, optimizer_of(made.strategy))
        engine.feed(events.slice(0, first).select(["type", "time", *engine.columns]))
        begin = process_time()
        engine.feed(events.slice(first).select(["type", "time", *engine.columns]))
        best = min(best, process_time() - begin)
    return float(best * 1e9)


def calibrated() -> PlanCosts:
    rows: list[npt.NDArray[np.float64]] = []
    wanted: list[float] = []
    workloads = list(measurements())
    for some in workloads:
        best_parts, best_known, best = min(some, key=lambda one: one[2])
        for parts, known, took in some:
            # Plans that are far from the quickest matter less.
            rows += [(parts - best_parts) / took, ABSOLUTE * parts / took]
            wanted += [((took - known) - (best - best_known)) / took, ABSOLUTE * (took - known) / took]
    found = nnls(np.array(rows), np.array(wanted))
    _judge(workloads, found)
    return PlanCosts(**{name: round(float(cost), 2) for name, cost in zip(NAMES, found, strict=True)})


def _judge(workloads: list[Measured], costs: npt.NDArray[np.float64]) -> None:
    """Print the errors of the prices, and how much slower than the quickest plan the cheapest one is."""
    errors, regrets = [], []
    for some in workloads:
        priced = [(parts @ costs + known, took) for parts, known, took in some]
        errors += [abs(price / took - 1) for price, took in priced]
        regrets.append(min(priced)[1] / min(took for _, took in priced))
    print(f"prices are off by {np.median(errors):.2f} (median), {max(errors):.2f} (worst)", file=sys.stderr)
    ratios = f"{np.mean(regrets):.2f} (mean), {max(regrets):.2f} (worst)"
    print(f"the plan of the least price, to the quickest: {ratios}", file=sys.stderr)


def main() -> None:
    costs, path = calibrated(), plan_costs_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(costs.to_dict(), indent=2) + "\n")
    print(f"{path}: {costs}")


if __name__ == "__main__":
    main()
