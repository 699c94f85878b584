"""Shared plans of many patterns, beside each other: `python -m benchmarks.detection.plans`.

Every figure is a ratio of throughputs through `elsinore.run`, from Arrow, of strategies that take the same events one
behind the other in one process. What a throughput is, `elsinore/bench/multi/gains.py` says. As the trivial strategy is
slow, `--quick` measures the smaller workloads alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import cache
from math import sqrt

from benchmarks.figures import HEADER, Figure, line
from elsinore.bench.multi.gains import DATASETS, FIRST_EVENTS, Gain, Made, Runs
from elsinore.bench.multi.streams import stream

RIVALS = ("reorder", "share", "spass", "motto")
FIXED = ("trivial", *RIVALS, "mpt", "mpm")
DRIFTING_EVERY = 1_000_000
"""Events after which types change places."""

EVENTS = 4_000_000
"""The most events of a run."""

SEED = 0


def point(setting: str, queries: int, size: int = 5, every: int = 0) -> Gain:
    return Gain(setting, "", queries, size=size, every=every)


GRID = tuple(point(setting, queries) for setting in DATASETS for queries in (25, 100))
QUICK_GRID = tuple(point(setting, 25) for setting in DATASETS)


@cache
def made(where: Gain) -> Made:
    return where.made(SEED)


@cache
def throughput(where: Gain, strategy: str) -> float:
    """Return the events a second of a strategy; that of the faster one of two runs."""
    _, attributes, _ = DATASETS[where.setting]
    workload = made(where)
    events = stream(workload.world, attributes, min(EVENTS, where.events), SEED, every=where.every)
    runs = Runs(workload.text, events, strategy, max(FIRST_EVENTS, where.every))
    return max(runs.measured().throughput for _ in range(2))


def ratio(where: Gain, over: str, under: Sequence[str]) -> tuple[float, str]:
    """Return how many times the throughput of the best of some strategies another one has, and how it came about."""
    best = max(under, key=lambda strategy: throughput(where, strategy))
    told = ", ".join(f"{one} {throughput(where, one) / 1e3:,.1f} k/s" for one in dict.fromkeys((over, best)))
    return throughput(where, over) / throughput(where, best), told


def named(where: Gain) -> str:
    return f"{where.setting.lower()}, {where.queries} patterns of {where.size}"


def figures(grid: Sequence[Gain]) -> Iterator[Figure]:
    """Yield the figures of each point of the grid, and then those over all of it."""
    ahead, auto = [], []
    for where in grid:
        gain, told = ratio(where, "mpm", ("trivial",))
        limit = 20 if where.queries >= 100 else 1
        yield Figure("detection-shared", f"mpm to trivial, {named(where)}", gain, limit, "x", told, at_least=True)
        gain, told = ratio(where, "mpm", RIVALS)
        ahead.append(gain)
        yield Figure("detection-rivals", f"mpm to the best rival, {named(where)}", gain, 1, "x", told, at_least=True)
        gain, told = ratio(where, "mpm", ("mpt",))
        yield Figure("detection-trees", f"EDGE to EDGE-PREFIX, {named(where)}", gain, 1, "x", told, at_least=True)
        gain, told = ratio(where, "auto", FIXED)
        auto.append(1 / gain)
        yield Figure("detection-auto", f"best fixed strategy to auto, {named(where)}", 1 / gain, 1.1, "x", told)
    yield Figure("detection-rivals", "mpm to the best rival, least", min(ahead), 1, "x", "", at_least=True)
    yield Figure("detection-auto", "best fixed strategy to auto, most", max(auto), 1.1, "x")


def drifting(settings: Sequence[str]) -> Iterator[Figure]:
    """Yield how much faster a plan is that follows the stream, where types change places."""
    found = []
    for setting in settings:
        where = point(setting, 100, every=DRIFTING_EVERY)
        gain, told = ratio(where, "mpm", ("mpm-static",))
        found.append(gain)
        yield Figure("detection-drift", f"adaptive to static, {named(where)}", gain, 3, "x", told, at_least=True)
    if len(found) == 2:
        mean = sqrt(found[0] * found[1])
        yield Figure("detection-drift", "adaptive to static, geometric mean", mean, 3, "x", "", at_least=True)


def compile_kernels() -> None:
    small = GRID[0].first()
    for strategy in ("trivial", "mpm"):
        throughput(small, strategy)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection.plans", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="workloads of 25 patterns alone, and no drift")
    quick = parser.parse_args().quick
    print(HEADER)
    compile_kernels()
    for figure in figures(QUICK_GRID if quick else GRID):
        print(line(figure), flush=True)
    for figure in () if quick else drifting(tuple(DATASETS)):
        print(line(figure), flush=True)


if __name__ == "__main__":
    main()
