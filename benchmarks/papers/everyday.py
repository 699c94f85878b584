"""The streams that people have: a query alone over equal shares of types, and a dispatcher's board over rides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa

import elsinore
from benchmarks.figures import Figure
from benchmarks.measure import Numeric, best, seconds, yardstick
from benchmarks.papers.type_grained import HALF_HOURS, SLIDING, TUMBLING, query
from benchmarks.streams import PARTITIONS, steady
from elsinore.cluster.run.local import usable_cores
from elsinore.connectors.ridesharing import generate

BOARD = Path("examples/board/workload.elsinore").read_text()
BOARD_PART = 5
"""The board runs over one in so many of the events that are asked for."""


def shares(events: int) -> Iterator[Figure]:
    """Measure `SEQ(A, B+, C)` where A, B, C and a type that no query names have equal shares."""
    random = np.random.default_rng(4)
    codes = random.integers(0, 4, events).astype(np.int32)
    types = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["A", "B", "C", "X"]))
    partition = random.integers(0, PARTITIONS, events).astype(np.int32)
    table = pa.table({"type": types, "time": steady(0, events), "partition": partition})
    y = yardstick(table)
    numerics: tuple[Numeric, ...] = ("approximate", "exact")
    for numeric in numerics:
        took = seconds(query(TUMBLING), table, numeric)
        detail = f"{took:.3f} s, Y {y:.4f} s, {took / events * 1e9:.0f} ns an event"
        yield Figure(f"shares-{numeric}", f"equal shares of A, B, C, X, tumbling, {numeric}", took / y, 4, "Y", detail)
        tumbles, slides = (seconds(query(windows), table, numeric) for windows in (HALF_HOURS, SLIDING))
        what = f"30 overlapping windows to tumbling, {numeric}"
        detail = f"{slides:.3f} s to {tumbles:.3f} s"
        yield Figure(f"overlapping-{numeric}", what, slides / tumbles, 1.3, "times", detail)


def board(events: int) -> Iterator[Figure]:
    """Measure the board: exact to approximate numbers, sharing to every query apart, and all cores to one."""
    rides = pa.Table.from_batches(generate(events // BOARD_PART, seed=1))

    def took(numeric: Numeric = "exact", strategy: str = "auto") -> float:
        return best(lambda: _run(rides, numeric, strategy, 1))

    for cores in (1, usable_cores()):
        _run(rides.slice(0, events // 50), "exact", "auto", cores)
    exact, approximate, apart = took(), took("approximate"), took(strategy="cogra")
    detail = f"{exact:.2f} s to {approximate:.2f} s"
    yield Figure("board-exact", "board, exact to approximate numbers", exact / approximate, 1.3, "times", detail)
    detail = f"{apart:.2f} s to {exact:.2f} s"
    yield Figure(
        "board-sharing", "board, every query apart to auto", apart / exact, 2.5, "times", detail, at_least=True
    )
    one, all_cores = (
        best(lambda cores=cores: _run(rides, "exact", "auto", cores), clock=perf_counter)  # type: ignore[misc]
        for cores in (1, usable_cores())
    )
    limit = 0.9 * usable_cores()
    detail = f"{one:.2f} s to {all_cores:.2f} s"
    yield Figure("board-cores", "board, one core to all cores", one / all_cores, limit, "times", detail, at_least=True)


def _run(rides: pa.Table, numeric: Numeric, strategy: str, cores: int) -> None:
    elsinore.run(BOARD, rides, engine="local", numeric=numeric, strategy=strategy, cores=cores)
