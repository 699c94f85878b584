"""Scale-out: what a run costs with many actors, and how many bytes cross the nodes of a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from benchmarks.figures import Figure
from benchmarks.runtime.processes import TICKS, processor_ticks
from benchmarks.runtime.spark_and_ray import HALF_HOURS, QUERIES, run
from benchmarks.streams import PARTITIONS, RATE
from elsinore.bench.hamlet.streams import shared_bursts
from elsinore.bench.hamlet.workloads import shared_kleene
from elsinore.connectors.ridesharing import write

BOARD = Path("examples/board/workload.elsinore")

FEW, MANY = 2, 16
"""Numbers of actors that are compared."""

LIMIT = 1.15

NODES = (2, 4, 8)
"""Numbers of actors in the cluster."""


def scale_out(events: int) -> Iterator[Figure]:
    """Yield the cost of many actors to that of few, for a light and a heavy workload, and the bytes between nodes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        light, heavy = folder / "light.parquet", folder / "heavy.parquet"
        pq.write_table(shared_bursts(events, RATE, PARTITIONS), light, row_group_size=1 << 18)
        write(heavy, events, seed=1)
        yield _many_actors("light", shared_kleene(QUERIES, HALF_HOURS), light, "ms")
        yield _many_actors("heavy", BOARD.read_text(), heavy, "s")
    yield from _between_nodes(events // 10)


def _many_actors(name: str, workload: str, path: Path, unit: str) -> Figure:
    took = {}
    for actors in (FEW, MANY):
        given = partial(run, workload, path, time_unit=unit, actors=actors)
        given()  # starts the actors, and compiles their kernels
        before = processor_ticks()
        metrics = given()
        spent = processor_ticks() - before
        took[actors] = sum(spent.values()) / TICKS, metrics.hand_over
    (few, shared), (many, dealt) = took[FEW], took[MANY]
    detail = f"{many:.1f} s ({dealt}) to {few:.1f} s ({shared}) of processor time"
    what = f"{name} workload, {MANY} actors to {FEW}: processor time of the whole run"
    return Figure(f"many-actors-{name}", what, many / few, LIMIT, "times", detail)


def _between_nodes(events: int) -> Iterator[Figure]:
    """Yield the bytes that cross the nodes of a cluster, whose Ray and Spark are those of another process."""
    words = [sys.executable, "-m", "benchmarks.runtime.between_nodes", str(events), *map(str, NODES)]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    for line in told.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            detail = f"{found['crossed'] / 1e6:.1f} MB to {found['needed'] / 1e6:.1f} MB, {found['hand_over']}"
            what = f"{found['workload']}, {found['actors']} actors on four nodes: bytes between nodes to those needed"
            yield Figure(
                f"bytes-{found['workload']}-{found['actors']}",
                what,
                found["crossed"] / found["needed"],
                LIMIT,
                "times",
                detail,
            )
