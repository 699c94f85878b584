"""Shared plans of many patterns, beside each other: `python -m benchmarks.detection.plans [POINT ...]`.

Every figure is a ratio of throughputs through `elsinore.run`, from Arrow, of strategies that take the same events one
behind the other in one process. What a throughput is, `elsinore/bench/multi/gains.py` says. The fastest strategies are
measured several times, in turn, and the best run of each counts. A point is a workload and its stream: `stocks-25`
has 25 patterns. By default all points are measured; one takes some minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import pyarrow as pa

from benchmarks.detection.points import named_points
from benchmarks.figures import HEADER, Figure, line
from elsinore.bench.multi.gains import DATASETS, Gain, Made, Timed
from elsinore.bench.multi.streams import stream

TRIVIAL = "trivial"
RIVALS = ("reorder", "share", "spass", "motto")
FIXED = (TRIVIAL, *RIVALS, "mpt", "mpm")
EVENTS = 16_000_000
"""The most events of a run."""

ENOUGH_SECONDS = 1.5
"""Processor time of a run, at least, after its plan was chosen."""

TURNS, NEAR = 3, 1.5
"""Runs of each strategy that is less than so many times slower than the fastest."""

SEED = 0


def point(setting: str, queries: int) -> Gain:
    return Gain(setting, "", queries, events=EVENTS)


POINTS = {f"{setting.lower()}-{queries}": point(setting, queries) for setting in DATASETS for queries in (25, 100)}


class Throughputs:
    """Events a second of strategies at a point, the most of all runs of each."""

    def __init__(self, where: Gain) -> None:
        self.where = where
        self.best: dict[str, float] = {}

    @cached_property
    def made(self) -> Made:
        return self.where.made(SEED)

    @cached_property
    def events(self) -> pa.Table:
        _, attributes, _ = DATASETS[self.where.setting]
        return stream(self.made.world, attributes, self.where.events, SEED)

    def measure(self, strategies: Sequence[str], turns: int = TURNS) -> None:
        """Run strategies one behind another, and again those that are about as fast as the fastest."""
        for turn in range(turns):
            fastest = max(self.best.values(), default=0.0)
            for strategy in strategies:
                if not turn or NEAR * self.best[strategy] >= fastest:
                    self.best[strategy] = max(self.best.get(strategy, 0.0), self._run(strategy))

    def _run(self, strategy: str) -> float:
        timed = Timed.of(self.made.text, self.events, strategy, enough=ENOUGH_SECONDS)
        return timed.measured().throughput

    def ratio(self, over: str, under: Sequence[str]) -> tuple[float, str]:
        """Return how many times the throughput of the best of some strategies another has, and how it came about."""
        best = max(under, key=self.best.__getitem__)
        told = ", ".join(f"{one} {self.best[one] / 1e3:,.1f} k/s" for one in dict.fromkeys((over, best)))
        return self.best[over] / self.best[best], told


def figures(where: Gain) -> Iterator[Figure]:
    """Yield the figures of a point of the grid."""
    found = Throughputs(where)
    found.measure((*FIXED, "auto"))
    named = f"{where.setting.lower()}, {where.queries} patterns of {where.size}"
    gain, told = found.ratio("mpm", (TRIVIAL,))
    limit = 20 if where.queries >= 100 else 1
    yield Figure("detection-shared", f"mpm to trivial, {named}", gain, limit, "x", told, at_least=True)
    gain, told = found.ratio("mpm", RIVALS)
    yield Figure("detection-rivals", f"mpm to the best rival, {named}", gain, 1, "x", told, at_least=True)
    gain, told = found.ratio("mpm", ("mpt",))
    yield Figure("detection-trees", f"EDGE to EDGE-PREFIX, {named}", gain, 1, "x", told, at_least=True)
    gain, told = found.ratio("auto", FIXED)
    yield Figure("detection-auto", f"best fixed strategy to auto, {named}", 1 / gain, 1.1, "x", told)


def compile_kernels(where: Gain) -> None:
    small = Throughputs(where.first())
    small.measure((TRIVIAL, "mpm"))


def main() -> None:
    names = named_points("benchmarks.detection.plans", __doc__, POINTS)
    print(HEADER)
    for name in names:
        compile_kernels(POINTS[name])
        for figure in figures(POINTS[name]):
            print(line(figure), flush=True)


if __name__ == "__main__":
    main()
