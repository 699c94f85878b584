"""Decisions burst by burst, compared with decisions that are made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import best, run
from elsinore.bench.hamlet.streams import Phase, bursts, fluctuating
from elsinore.bench.hamlet.workloads import KLEENE, OTHERS, diverse, shared_kleene
from elsinore.cluster.run.local import LocalRun
from elsinore.connectors.sources import open_events
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.optimizer import Always, Never, SharingOptimizer
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan

QUERIES = 50
RATE, PARTITIONS = 4_000, 4
"""Events a minute and partitions of the fluctuating stream: some 300 bursts in a window."""

BURSTS = (1, 4, 16, 64, 256)
SELECTIVITIES = (0.0, 0.5, 0.9, 1.0)
GRID_QUERIES = (2, 10, 50)
GRID_RATE, GRID_PARTITIONS = 10_000, 10
"""Events a minute and partitions of the grid's streams: a thousand events of a partition in a window."""

TIMES = 6


def diverse_workload(events: int) -> Iterator[Figure]:
    """Yield dynamic decisions compared with static ones (Figures 11 and 12)."""
    table = fluctuating(max(100_000, events // 20), RATE, PARTITIONS)
    workload = diverse(QUERIES)
    took, snapshots = {}, {}
    for strategy in ("hamlet", "hamlet-static"):
        result = run(workload, table, "approximate", strategy)
        snapshots[strategy] = result.metrics.snapshots
        took[strategy] = best(partial(run, workload, table, "approximate", strategy))
    dynamic, static = took.values()
    detail = f"{static:.3f} s to {dynamic:.3f} s, {dynamic / len(table) * 1e9:,.0f} ns an event"
    what = f"{QUERIES} diverse queries, fluctuating, static to dynamic"
    yield Figure("hamlet-static", what, static / dynamic, 1.3, "times", detail, at_least=True)
    few, all_of_them = snapshots.values()
    what = "Snapshots created, dynamic to static"
    yield Figure("hamlet-snapshots", what, 100 * few / all_of_them, 60, "%", f"{few:,} to {all_of_them:,}")


def grid(events: int) -> Iterator[Figure]:
    """Yield the worst of sixty streams and workloads: what decisions lose to the better of two fixed choices."""
    cells = [
        Cell.measured(events // 25, burst, selectivity, queries)
        for burst, selectivity, queries in product(BURSTS, SELECTIVITIES, GRID_QUERIES)
    ]
    worst = max(cells, key=lambda cell: cell.ratio)
    median = float(np.median([cell.ratio for cell in cells]))
    detail = f"worst of {len(cells)}: {worst}; median {median:.3f}"
    yield Figure("hamlet-grid", "hamlet to the better of always, never sharing", worst.ratio, 1.05, "times", detail)


@dataclass(frozen=True)
class Cell:
    """The seconds of a run that decides, of one that always shares, and of one that never does."""

    burst: float
    selectivity: float
    queries: int
    decides: float
    always: float
    never: float

    @classmethod
    def measured(cls, events: int, burst: float, selectivity: float, queries: int) -> Cell:
        """Measure the three in turn, each of them first in some turns, so that other load affects all of them alike."""
        table = grid_stream(events, burst)
        planned = plan(check_text(grid_workload(queries, selectivity)), "hamlet")
        optimizers: tuple[SharingOptimizer | None, ...] = (None, Always(), Never())
        took = np.empty((TIMES, len(optimizers)))
        for turn, place in product(range(TIMES), range(len(optimizers))):
            which = (turn + place) % len(optimizers)
            took[turn, which] = _once(planned, table, optimizers[which])
        decides, always, never = np.min(took, axis=0).tolist()
        return cls(burst, selectivity, queries, decides, always, never)

    @property
    def ratio(self) -> float:
        return self.decides / min(self.always, self.never)

    def __str__(self) -> str:
        took = ", ".join(f"{seconds * 1000:.1f}" for seconds in (self.decides, self.always, self.never))
        return f"bursts of {self.burst:g}, selectivity {self.selectivity:g}, {self.queries} queries: {took} ms"


def grid_stream(events: int, burst: float) -> pa.Table:
    return bursts(
        np.random.default_rng(7), events, GRID_RATE, GRID_PARTITIONS, ((KLEENE,), OTHERS), (Phase(burst, (0, 1)),)
    )


def grid_workload(queries: int, selectivity: float) -> str:
    """Return a workload in which half of the queries take all events of a burst, the others a fraction of them."""
    windows = "WITHIN 1 minute SLIDE 1 minute"
    all_events = shared_kleene(queries, f"WHERE [partition] {windows}").split("\n")
    some = shared_kleene(queries, f"WHERE [partition] AND T.speed < {selectivity} {windows}").split("\n")
    return "\n".join(all_events[::2] + some[1::2])


def _once(planned: Plan, table: pa.Table, optimizer: SharingOptimizer | None) -> float:
    """Return the seconds of a run without its planning, which is the same for all; None is the strategy's optimizer."""
    local = LocalRun(planned, open_events(table, time_unit="ms"), numeric="approximate", optimizer=optimizer)
    return best(lambda: list(local), times=1)
