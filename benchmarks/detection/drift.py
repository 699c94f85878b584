"""A plan that follows its stream beside one that does not: `python -m benchmarks.detection.drift [POINT ...]`.

Both strategies take the same events one behind the other in one process, and have to find equally many matches. What a
throughput is, `elsinore/bench/multi/gains.py` says; the first plan, which both choose by the events up to the first
change, is not in it. At `stocks` and `traffic` five types exchange their rates, as in Figure 13 of Kolchinsky and
Schuster. No pattern has a NOT or a Kleene closure: no plan makes them faster, and lists of a type that becomes
frequent take all the time. At `stocks-bursts` and `traffic-bursts` rates differ more, and with each change the rarest
type becomes the most frequent one, and so on. Beside the throughputs stands what a better plan could gain by the
paper's cost model: the cost of joins in the first plan, after a change, to that in a plan for the new rates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from benchmarks.detection.points import named_points
from benchmarks.figures import HEADER, Figure, line
from elsinore.bench.multi.gains import BURSTS, DATASETS, Gain, Made, Measured, Timed
from elsinore.bench.multi.streams import stream
from elsinore.planner.detection.choosing import PlanRequest, chosen_trees
from elsinore.planner.detection.pattern import Kind
from elsinore.planner.detection.plan import DetectionPlan

FOLLOWING, STATIC = "mpm", "mpm-static"

EVERY = 250_000
"""Events after which types change places."""

EVENTS = 4 * EVERY

PATTERNS = 100


@dataclass(frozen=True)
class Drift:
    """A stream whose rates change, and what is asked about it."""

    name: str
    setting: str

    @cached_property
    def made(self) -> Made:
        return Gain(self.setting, "", PATTERNS, every=EVERY, special=False).made(0)

    def figure(self) -> Figure:
        _, attributes, _ = DATASETS[self.setting.partition(",")[0]]
        events = stream(self.made.world, attributes, EVENTS, self.made.seed, every=EVERY)
        runs: dict[str, Measured] = {}
        for strategy in (STATIC, FOLLOWING):
            runs[strategy] = Timed.of(self.made.text, events, strategy, EVERY, inf).measured()
        assert runs[STATIC].rows == runs[FOLLOWING].rows, "a plan changed the matches"
        told = ", ".join(f"{name} {run.throughput / 1e3:,.1f} k/s" for name, run in runs.items())
        gain = runs[FOLLOWING].throughput / runs[STATIC].throughput
        what = f"adaptive to static, {self.name}, {PATTERNS} patterns"
        told = f"{told}; {self.made.expected:.2g} matches expected; {self.bound():.3g} times by the cost model"
        return Figure("detection-drift", what, gain, 3, "x", told, at_least=True)

    def bound(self) -> float:
        """Return the cost of joins in the first plan to that in a new one, after the first change of rates."""
        world, patterns = self.made.world, self.made.workload.patterns
        singles = tuple(tuple(one.name for one in pattern.events if one.kind is Kind.SINGLE) for pattern in patterns)
        usual = PlanRequest(FOLLOWING, patterns, singles, world.statistics)
        names = list(world.statistics.rates)
        called = world.exchanged(0, np.random.default_rng(self.made.seed))
        rates = {names[place]: world.statistics.rates[name] for name, place in zip(names, called, strict=True)}
        changed = replace(usual, statistics=replace(world.statistics, rates=rates))
        first, new = (changed.plan(chosen_trees(request)) for request in (usual, changed))
        return _joins(first) / _joins(new)


def _joins(plan: DetectionPlan) -> float:
    return sum(node.cost for node in plan.nodes if not node.leaf)


POINTS = {
    name: Drift(name, setting)
    for dataset in DATASETS
    for name, setting in ((dataset.lower(), dataset), (f"{dataset.lower()}-bursts", f"{dataset}, {BURSTS}"))
}


def compile_kernels() -> None:
    where = Gain("Stocks", "", PATTERNS).first()
    made = where.made(0)
    Timed.of(made.text, stream(made.world, ("difference",), where.events, 0), FOLLOWING).measured()


def main() -> None:
    names = named_points("benchmarks.detection.drift", __doc__, POINTS)
    compile_kernels()
    print(HEADER)
    for name in names:
        print(line(POINTS[name].figure()), flush=True)


if __name__ == "__main__":
    main()
