"""`python -m benchmarks.costs.bursts`: measures the parts of a burst on this machine, for the calibrated cost model.

Streams with bursts of one length are run with all bursts shared, and with none. The costs are those that explain the
times best (least squares of relative errors, none below zero).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.cluster.machines.costs import costs_file
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.calibrated import Costs
from elsinore.planner.hamlet.optimizer import Always, Never, SharingOptimizer
from elsinore.planner.plans.kinds import HAMLET
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

SIZES = (1, 2, 4, 8, 16, 64, 256)
QUERIES = (2, 10, 50)
ITEMS = ("COUNT(*)", "COUNT(*), SUM(T.v)")
EVENTS = 200_000
PARTITIONS = 100
PREFIXES = 5
BATCH = 50_000


def workload(queries: int, items: str) -> str:
    return "\n".join(
        f"RETURN {items} PATTERN SEQ(P{q % PREFIXES}, T+) WHERE [k] WITHIN 1 hours SLIDE 1 hours;"
        for q in range(queries)
    )


def stream(size: int) -> pa.RecordBatch:
    """Return a stream: in every partition all prefixes, then bursts of `size` events T, parted by the first prefix."""
    steps = EVENTS // PARTITIONS
    place = np.arange(steps)
    parting = (place < PREFIXES) | ((place - PREFIXES) % (size + 1) == size)
    kinds = np.where(parting, np.where(place < PREFIXES, place, 0), PREFIXES).astype(np.int32)
    names = pa.array([*(f"P{n}" for n in range(PREFIXES)), "T"])
    types = pa.DictionaryArray.from_arrays(pa.array(np.repeat(kinds, PARTITIONS)), names)
    return pa.RecordBatch.from_pydict(
        {
            "type": types,
            "time": np.arange(EVENTS),
            "k": np.tile(np.arange(PARTITIONS), steps),
            "v": np.ones(EVENTS, np.int64),
        }
    )


def nanoseconds(text: str, events: pa.RecordBatch, optimizer: SharingOptimizer) -> float:
    """Return the average nanoseconds of a burst."""
    best = np.inf
    bursts = 1
    for _ in range(3):
        made = plan(check_text(text), "hamlet")
        engine = Engine(made, Clock.of(pa.int64(), "ms", made.spans), "approximate", 0, optimizer)
        for start in range(0, len(events), BATCH):
            engine.feed(events.slice(start, BATCH))
        engine.finish()
        graph = engine.runs(HAMLET)[0].graph
        bursts = graph.decisions.bursts
        best = min(best, graph.seconds)
    return best * 1e9 / bursts


def measurements() -> Iterator[tuple[npt.NDArray[np.float64], float]]:
    """Yield the parts of a burst, by cost, and its nanoseconds."""
    for size in SIZES:
        events = stream(size)
        for queries in QUERIES:
            for lanes, items in enumerate(ITEMS):
                text = workload(queries, items)
                more = 2 * lanes
                apart = np.array([1, more, size, size * more]) * queries
                shared = [1, size, size * more, queries, queries * more]
                for optimizer, parts in ((Never(), [*apart, *[0] * 5]), (Always(), [*[0] * 4, *shared])):
                    took = nanoseconds(text, events, optimizer)
                    how = type(optimizer).__name__
                    print(f"b {size:4} k {queries:3} {items:20} {how:7} {took:10.0f} ns", file=sys.stderr)
                    # The last part is the prefix before each burst, a small part, which goes through the machines.
                    yield np.array([*parts, 1.0]), took


def calibrated() -> Costs:
    """Return the costs in their order, without the part that is the same however a burst is run."""
    parts, times = (np.array(column) for column in zip(*measurements(), strict=True))
    weighted, wanted = parts / times[:, None], np.ones(len(times))
    found = nnls(weighted, wanted)
    errors = np.abs(weighted @ found - 1)
    print(f"relative error: median {np.median(errors):.2f}, worst {errors.max():.2f}", file=sys.stderr)
    return Costs(*(round(float(cost), 2) for cost in found[:9]))


def nnls(parts: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return least squares without negative values: the most negative one is left out until there are none."""
    left = np.arange(parts.shape[1])
    while True:
        found = np.linalg.lstsq(parts[:, left], wanted, rcond=None)[0]
        if found.min() >= 0:
            whole = np.zeros(parts.shape[1])
            whole[left] = found
            return whole
        left = np.delete(left, found.argmin())


def main() -> None:
    costs = calibrated()
    path: Path = costs_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(costs.to_dict(), indent=2) + "\n")
    print(f"{path}: {costs}")


if __name__ == "__main__":
    main()
