"""How much a longer search for plans of detection gains: `python -m benchmarks.detection.search [WORKLOAD ...]`.

For workloads of 100 patterns of size 5 (`stocks-20` has 20 types): the cost of all strategies against `mpm` after a
short search, its cost against that after a long one, and steps per second. A workload takes about seven minutes;
`--search SA-EDGE` takes half of that, and `--seconds 2 60` a third.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import process_time

from benchmarks.figures import HEADER, Figure, line
from elsinore.bench.multi.generator import STOCKS, TRAFFIC, Parameters, workload
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.search.searching import searched
from elsinore.planner.detection.strategies.strategies import SA_EDGE, STRATEGIES, TS_EDGE

SECONDS = (2.0, 180.0)
"""The short search and the long one, by default."""

LIMIT = 1.1

SEARCHES = {"SA-EDGE": SA_EDGE, "TS-EDGE": TS_EDGE}

WORKLOADS: dict[str, Parameters] = {
    f"{kind.name}-{types}": replace(kind, types=types) for kind in (STOCKS, TRAFFIC) for types in (12, 20, 40)
}


def figures(name: str, searches: Sequence[str], short: float, long: float) -> Iterator[Figure]:
    """Yield, by search, the cost of the plan after a short time as a multiple of that after a long time."""
    made = workload(WORKLOADS[name])
    for search in searches:
        graph, model = MultiPatternGraph(made.patterns), Instances(made.statistics)
        before = process_time()
        first = searched(graph, model, SEARCHES[search], Budget(seconds=short))
        spent = process_time() - before
        second = searched(graph, model, SEARCHES[search], Budget(seconds=long))
        told = f"{first.start / second.cost:.3f} at the start; {1e6 * spent / first.steps:.0f} us a step"
        what = f"{search} from local plans, {name}, {short:g} s to {long:g} s"
        yield Figure("detection-search", what, first.cost / second.cost, LIMIT, "x", told)


def shown(name: str, seconds: float) -> str:
    """Return what a workload is like, and the cost of each strategy over that of `mpm`."""
    made = workload(WORKLOADS[name])
    model, budget = Instances(made.statistics), Budget(seconds=seconds)
    adaptive = [strategy for strategy in STRATEGIES if STRATEGIES[strategy].adaptive]
    costs = {strategy: detection_plan(made.patterns, model, strategy, budget).cost for strategy in adaptive}
    ratios = ", ".join(f"{strategy} {cost / costs['mpm']:.2f}" for strategy, cost in costs.items())
    return (
        f"{name}: density {made.density:.2f}, {made.expected_matches():.2f} matches per window and pattern expected; "
        f"cost over mpm: {ratios}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection.search", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--seconds", nargs=2, type=float, default=SECONDS, metavar=("SHORT", "LONG"))
    parser.add_argument("--search", choices=SEARCHES, action="append", help="by default both")
    options = parser.parse_args()
    print(HEADER)
    for name in options.workloads or WORKLOADS:
        print(shown(name, options.seconds[0]), flush=True)
        for figure in figures(name, options.search or [*SEARCHES], *options.seconds):
            print(line(figure), flush=True)


if __name__ == "__main__":
    main()
