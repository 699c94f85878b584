"""Spark, RayDP and Ray: the cost of a run from Parquet to Parquet, and its parts by role; start-up is not included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow.parquet as pq

from benchmarks.figures import Figure
from benchmarks.runtime.processes import TICKS, processor_ticks
from benchmarks.streams import PARTITIONS, RATE, one_window
from elsinore.api import prepare
from elsinore.bench.hamlet.streams import shared_bursts
from elsinore.bench.hamlet.workloads import shared_kleene
from elsinore.cli.runs import answer
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import settings
from elsinore.cluster.run.local import Metrics

QUERIES = 50
HALF_HOURS = "WHERE [partition] WITHIN 30 minutes SLIDE 30 minutes"
TIMES = 5
"""Number of runs; the first are slow, because Java compiles what it executes often."""

COLUMNS = ("type", "time", "partition")


def runtime(events: int) -> Iterator[Figure]:
    """Yield figures for `events` from Parquet to Parquet, and for a workload that is bound by its kernels."""
    with TemporaryDirectory() as folder:
        yield from _parquet_to_parquet(Path(folder), events)
        yield from _more_actors(Path(folder), events // 5)


def _parquet_to_parquet(folder: Path, events: int) -> Iterator[Figure]:
    path = folder / "events.parquet"
    pq.write_table(shared_bursts(events, RATE, PARTITIONS), path, row_group_size=1 << 18)
    workload = shared_kleene(QUERIES, HALF_HOURS)
    spark = session(settings(engine="ray")).spark

    def alone() -> None:
        frame = spark.read.parquet(str(path)).select(*COLUMNS).repartition(2, "partition")
        frame.write.format("noop").mode("overwrite").save()

    # The two run in turn, because a machine is not equally fast all the time.
    (base, _), (took, spent) = _best(alone, lambda: run(workload, path))
    metrics = run(workload, path)
    what = f"{events / 1e6:g} M events, Parquet to Parquet, {QUERIES} queries, exact, to Spark's repartition by key"
    yield Figure("parquet-to-parquet", what, took / base, 1.6, "times", f"{took:.2f} s to {base:.2f} s")
    total = sum(spent.values())
    for part, cost in spent.most_common():
        if cost >= 0.01 * total:
            name, what = f"processor-{part.replace(' ', '-').lower()}", f"of that: {part}"
            yield Figure(name, what, cost / TICKS, total / TICKS, "s", "of processor time")
    waited = metrics.waited / metrics.seconds
    detail = (
        f"{metrics.waited:.3f} s of {metrics.seconds:.2f} s, {metrics.questions} questions, {metrics.missed} missed"
    )
    yield Figure("waiting", "actors that wait for the optimizer", 100 * waited, 1, "%", detail)


def _more_actors(folder: Path, events: int) -> Iterator[Figure]:
    """Yield the gain of a second actor, for four queries that compare neighbours.

    An event costs them some two microseconds, and Spark a few dozen nanoseconds.
    """
    path = folder / "linked.parquet"
    table = one_window(max(2, events // 10_000), 10_000)
    pq.write_table(table, path, row_group_size=1 << 18)
    workload = "\n".join(
        f"QUERY q{number} RETURN COUNT(*) PATTERN SEQ(A, B+, C) WHERE [partition] AND B.v {compared} NEXT(B).v "
        f"WITHIN {len(table)} ms SLIDE {len(table)} ms"
        for number, compared in enumerate(("<", "<=", ">", ">="))
    )
    (one, _), (two, _) = _best(*(partial(run, workload, path, actors=actors) for actors in (1, 2)))
    rates = f"{len(table) / one / 1e6:.2f} M to {len(table) / two / 1e6:.2f} M events/s"
    what = f"4 queries that compare neighbours, {len(table) / 1e6:.1f} M events, exact: 1 actor to 2"
    yield Figure("more-actors", what, one / two, 1.7, "times", rates, at_least=True)


def run(workload: str, path: Path, time_unit: str = "ms", **given: Any) -> Metrics:
    """Run a workload over a Parquet file on Spark and Ray with these settings, and write its rows beside the file."""
    job = prepare(
        workload,
        path,
        engine="ray",
        strategy="auto",
        numeric="exact",
        lateness=0,
        time_unit=time_unit,
        settings=given,
    )
    answer(job, str(path.with_name("rows.parquet")), approximate=False)
    return job.run.metrics


def _best(*actions: Callable[[], object]) -> list[tuple[float, Counter[str]]]:
    """Return, for each action, the fastest of several runs in turn: wall-clock seconds, and processor ticks by role."""
    found = [[_timed(action) for action in actions] for _ in range(TIMES)]
    return [min(runs, key=itemgetter(0)) for runs in zip(*found, strict=True)]


def _timed(action: Callable[[], object]) -> tuple[float, Counter[str]]:
    before, begin = processor_ticks(), perf_counter()
    action()
    return perf_counter() - begin, processor_ticks() - before
