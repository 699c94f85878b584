"""Windows of several queries that end together: as many results as there are, numbers as wide as they become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import elsinore
from elsinore.actors.windows.closing import RESULTS_AT_ONCE

WINDOWS = ("WITHIN 1 minute SLIDE 1 minute", "WITHIN 2 minutes SLIDE 1 minute", "WITHIN 3 minutes SLIDE 2 minutes")
"""One after another, overlapping, and such that a row counts for nobody at times."""


def rows(workload: str, events: pa.Table, strategy: str) -> list[dict[str, Any]]:
    found = elsinore.run(workload, events, engine="local", strategy=strategy, time_unit="s").rows()
    return sorted(found, key=lambda row: [str(row[name]) for name in ("query", "window_start", *row)])


def table(types: str, times: list[int], keys: list[int]) -> pa.Table:
    return pa.table({"type": list(types), "time": times, "k": keys})


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("strategy", ["hamlet", "gloria"])
def test_more_groups_than_there_is_room_for(strategy: str, windows: str) -> None:
    """So members are closed by several calls, one after another."""
    groups = RESULTS_AT_ONCE + 10
    keys = np.repeat(np.arange(groups), 3)
    types = np.tile(["A", "B", "C"], groups)
    times = np.tile([1, 2, 3], groups) + 60 * (keys % 3)
    events = pa.table({"type": types, "time": times, "k": keys}).sort_by("time")
    workload = "; ".join(
        f"RETURN COUNT(*) PATTERN {pattern} WHERE [k] GROUP-BY k {windows}"
        for pattern in ("SEQ(A, B+)", "SEQ(A, B+, C)", "SEQ(B+, C)")
    )
    found = rows(workload, events, strategy)
    assert len(found) >= groups
    assert found == rows(workload, events, "cogra")


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("strategy", ["hamlet", "gloria"])
def test_numbers_that_fit_each_partition_but_not_their_sum(strategy: str, windows: str) -> None:
    """They become wider in the middle of closing: some members are done then, others begin again."""
    length, partitions = 60, 9
    types = "A" + "B" * length + "C"
    events = pa.concat_tables(
        [table(types, [0, *range(length), length - 1], [k] * len(types)) for k in range(partitions)]
    ).sort_by("time")
    workload = "; ".join(
        f"RETURN COUNT(*) PATTERN {pattern} WHERE [k] {windows}" for pattern in ("SEQ(A, C)", "SEQ(A, B+)", "B+")
    )
    found = rows(workload, events, strategy)
    assert max(row["COUNT(*)"] for row in found) > 2**62
    assert found == rows(workload, events, "cogra")
