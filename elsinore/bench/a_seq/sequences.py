"""Measurement of workloads of sequences over a stream of stock ticks, as close to A-Seq's as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa

from elsinore.api import prepare
from elsinore.bench.points import REPETITION, Metrics, Point, repeated
from elsinore.bench.replay import memory_before, status

TICKERS = ("DELL", "IPIX", "AMAT", "QQQ", "MSFT", "INTC", "CSCO", "ORCL", "SUNW", "JDSU")
EVENTS = 20_000
SLOW, FAST = 100, 10_000
"""Events per second: few enough to construct all trends; enough for counters to dominate the time."""

STREAM = f"a made-up stream of {len(TICKERS)} tickers by turns of chance; windows that move with every event"
SETTINGS = {
    "single": f"{STREAM}, {SLOW} events a second; one sequence",
    "negated": f"{STREAM}, {SLOW} events a second; SEQ(DELL, IPIX, AMAT), and with NOT QQQ before AMAT",
    "prefix": f"{STREAM}, {FAST:,} events a second; sequences that begin alike and end with types of their own",
    "substring": f"{STREAM}, {FAST:,} events a second; sequences that begin with types of their own and go on alike",
}


@dataclass(frozen=True)
class Sequences(Point):
    """A run of a strategy over a workload of sequences."""

    types: int = 3
    """Types of a sequence, or types that sequences have in common."""
    window: int = 1_000
    """Length of windows in milliseconds."""
    negated: int = 0
    """Number of negated types."""
    events: int = EVENTS

    limit: ClassVar = 120.0
    definitions: ClassVar = {
        "execution_time": "Seconds of processor time per event, from events in memory to all rows.",
        "memory": (
            "Bytes: the peak of the process's resident memory during a run, less what was resident before it, kernels "
            "loaded and events in memory."
        ),
        "repetition": REPETITION,
    }

    @property
    def what(self) -> str:
        return SETTINGS[self.setting]

    def measured(self) -> Metrics:
        stream = table(self)
        run(self, stream.slice(0, self.events // 10))
        runs = repeated(partial(run, self, stream), "spent")
        return min(runs, key=lambda one: one["spent"]) | {"memory": runs[0]["memory"]}

    @staticmethod
    def remark(measured: Sequence[Metrics]) -> str:
        """Return the range of the numbers of rows."""
        rows = [metrics["rows"] for metrics in measured]
        return f"{min(rows):,} to {max(rows):,} rows" if rows else ""

    def brief(self, share: float) -> Self:
        return replace(self, events=round(self.events * share))

    def first(self) -> Self:
        """Return a small point that compiles the kernels on a new machine."""
        return replace(self, events=self.events // 10)


def workload(point: Sequences) -> str:
    return "; ".join(f"RETURN COUNT(*) PATTERN SEQ({', '.join(one)}) WITHIN {point.window} ms" for one in _parts(point))


def _parts(point: Sequences) -> Iterator[list[str]]:
    common = list(TICKERS[: point.types])
    for number in range(point.queries):
        if point.setting == "prefix":
            yield [*common, f"OWN{number}"]
        elif point.setting == "substring":
            yield [f"OWN{number}", *common]
        elif point.negated:
            yield [*common[:-1], "NOT QQQ", common[-1]]
        else:
            yield common


def table(point: Sequences) -> pa.Table:
    """Return the stream; the types that only one query has are together as frequent as one ticker."""
    own = [f"OWN{number}" for number in range(point.queries)] if point.setting in ("prefix", "substring") else []
    shares = np.array([*[1.0] * len(TICKERS), *[1 / max(len(own), 1)] * len(own)])
    random = np.random.default_rng(11)
    codes = random.choice(len(shares), point.events, p=shares / shares.sum()).astype(np.int32)
    names = pa.array([*TICKERS, *own])
    rate = FAST if own else SLOW
    times = np.arange(point.events) * 1_000 // rate
    return pa.table({"type": pa.DictionaryArray.from_arrays(pa.array(codes), names), "time": times})


def run(point: Sequences, stream: pa.Table) -> Metrics:
    """Run a workload once, and return the metrics."""
    job = prepare(
        workload(point), stream, engine="local", strategy=point.strategy, numeric="exact", lateness=0, time_unit="ms"
    )
    before, rows, begin = memory_before(), 0, process_time()
    for found in job:
        rows += len(found)
    spent, peak = process_time() - begin, status("VmHWM")
    memory = None if before is None or peak is None else max(peak - before, 0)
    return {"execution_time": spent / len(stream), "memory": memory, "spent": spent, "rows": rows}
