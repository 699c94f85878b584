"""Partitions whose windows, one behind another, need more ticks than 64 bits count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsinore
from elsinore.actors.detection import entries
from tests.actors.detection.support import multiset, run
from tests.oracle.detecting import cases
from tests.oracle.detection import matches, numbered
from tests.oracle.query import Query, text_of
from tests.support.generated import fresh

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]

PARTITIONS = 60_000
DAY_NS = 86_400 * 10**9


@fresh(60)
@given(cases(9, 3), st.lists(st.integers(0, 20), max_size=2), st.sampled_from([1.0, 30.0, 10_000.0]))
def test_matches_do_not_depend_on_the_ticks_that_there_are(case: Case, cuts: list[int], ticks: float) -> None:
    workload, events = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "FARTHEST", ticks)
        found = run(text_of(workload), events, cuts)
    assert multiset(found) == multiset(numbered(matches(workload, events)))


def test_windows_of_a_day_in_nanoseconds() -> None:
    """Every partition has one match; two days lie between its second and its third event."""
    rows = np.arange(3 * PARTITIONS)
    part, key = rows // PARTITIONS, rows % PARTITIONS
    times = np.array([0, DAY_NS - 1, 3 * DAY_NS])[part]
    events = pa.table(
        {
            "type": pa.array(np.array(["A", "B", "B"])[part]),
            "time": pa.array(times, pa.timestamp("ns")),
            "k": key,
        }
    )
    text = "RETURN MATCHES a.k, b.k AS other PATTERN SEQ(A a, B b) WHERE [k] WITHIN 1 day"
    found = elsinore.run(text, events, engine="local").to_arrow()
    assert found.num_rows == PARTITIONS
    assert found["a.k"].to_pylist() == found["other"].to_pylist() == list(range(PARTITIONS))
    assert elsinore.matches(text, events).count() == PARTITIONS
