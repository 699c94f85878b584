"""How much a longer search for plans of detection gains: `python -m benchmarks.detection.search [seconds] [seconds]`.

For workloads of 100 patterns of size 5: the cost of all strategies against `mpm` after a short search, its cost
against that after a long one, and steps per second.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from time import process_time

from elsinore.bench.multi.generator import STOCKS, TRAFFIC, Generated, Parameters, workload
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.search.searching import searched
from elsinore.planner.detection.strategies.strategies import SA_EDGE, STRATEGIES, TS_EDGE

SECONDS = (2.0, 60.0)
"""The short search and the long one, by default."""
WORKLOADS: tuple[Parameters, ...] = tuple(
    replace(kind, types=types) for kind in (STOCKS, TRAFFIC) for types in (12, 20, 40)
)


def lines(short: float, long: float) -> Iterator[str]:
    """Yield a line per workload and comparison."""
    for parameters in WORKLOADS:
        made = workload(parameters)
        yield (
            f"{parameters.name}, {parameters.types} types: density {made.density:.2f}, "
            f"{made.expected_matches():.2f} matches per window and pattern expected"
        )
        yield f"  cost over mpm: {ratios(made, short)}"
        for name, search in (("SA-EDGE", SA_EDGE), ("TS-EDGE", TS_EDGE)):
            graph, model = MultiPatternGraph(made.patterns), Instances(made.statistics)
            before = process_time()
            first = searched(graph, model, search, Budget(seconds=short))
            spent = process_time() - before
            second = searched(graph, model, search, Budget(seconds=long))
            yield (
                f"  {name} from local plans: {first.cost / second.cost:.3f} of the cost after {long:g} s, "
                f"{first.start / second.cost:.3f} at the start; {1e6 * spent / first.steps:.0f} us a step"
            )


def ratios(made: Generated, seconds: float) -> str:
    """Return the cost of each strategy over that of `mpm`."""
    model, budget = Instances(made.statistics), Budget(seconds=seconds)
    costs = {
        name: detection_plan(made.patterns, model, name, budget).cost
        for name in STRATEGIES
        if STRATEGIES[name].adaptive
    }
    return ", ".join(f"{name} {cost / costs['mpm']:.2f}" for name, cost in costs.items())


def main() -> None:
    short, long = (float(one) for one in sys.argv[1:3]) if len(sys.argv) > 2 else SECONDS
    for line in lines(short, long):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
