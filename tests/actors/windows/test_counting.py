"""Counting in the order of events has the rows of counting partition by partition, and stops where it has to."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

import elsinore
from elsinore.actors.streams import keys
from elsinore.actors.windows import counting

PATTERNS = (
    "SEQ(A, B+, C)",
    "SEQ(A, B+, C) SEMANTICS skip-till-next-match",
    "SEQ(A, B+, C) SEMANTICS contiguous",
    "SEQ(A, NOT D, B)",
    "OR(SEQ(A, B), C+)",
)
WINDOWS = (
    "WITHIN 60 seconds SLIDE 60 seconds",
    "WITHIN 60 seconds SLIDE 20 seconds",
    "WITHIN 60 seconds SLIDE 7 seconds",
)


def stream(events: int, ties: bool, partitions: int = 7) -> pa.Table:
    random = np.random.default_rng(events)
    times = np.arange(events) // (4 if ties else 1)
    return pa.table(
        {
            "type": pa.array(random.choice(list("ABCD"), events)),
            "time": times,
            "p": random.integers(0, partitions, events).astype(np.int32) - 3,
        }
    )


def rows(query: str, events: pa.Table, numeric: Literal["exact", "approximate"] = "exact") -> list[dict[str, object]]:
    return elsinore.run(query, events, engine="local", cores=1, numeric=numeric).rows()


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return the list of the outcomes of counting in order, which grows."""
    outcomes: list[bool] = []
    count = counting.Counting.count

    def noted(*of: object) -> bool:
        outcomes.append(count(*of))  # type: ignore[arg-type]
        return outcomes[-1]

    monkeypatch.setattr(counting.Counting, "count", noted)
    return outcomes


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("windows", WINDOWS)
def test_rows_are_those_of_partition_by_partition(
    windows: str,
    pattern: str,
    ties: bool,
    numeric: Literal["exact", "approximate"],
    monkeypatch: pytest.MonkeyPatch,
    tried: list[bool],
) -> None:
    before, _, after = pattern.partition(" SEMANTICS")
    query = f"RETURN COUNT(*) PATTERN {before}{' SEMANTICS' + after if after else ''} WHERE [p] {windows}"
    events = stream(700, ties)
    found = rows(query, events, numeric)
    if not ties and tried:
        assert any(tried)
    monkeypatch.setattr(counting, "MOST_NUMBERS", 0)
    assert found == rows(query, events, numeric)
    assert len(found) > 2


def test_a_segment_in_which_a_number_overflows_is_counted_again(tried: list[bool]) -> None:
    events = pa.table({"type": ["A"] + ["B"] * 100 + ["C"], "time": range(102), "p": [1] * 102})
    query = "RETURN COUNT(*) PATTERN SEQ(A, B+, C) WHERE [p] WITHIN 200 seconds SLIDE 200 seconds"
    assert [row["COUNT(*)"] for row in rows(query, events)] == [2**100 - 1]
    assert tried
    assert not any(tried)


@pytest.mark.parametrize("returned", ["COUNT(*)", "COUNT(*), COUNT(B), SUM(B.p)"])
def test_panes_count_in_fewer_words_than_windows(
    returned: str, tried: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows of 150 events B have more than 2**64 trends, panes of 10 events do not."""
    types = np.array(["B"] * 400)
    types[::17], types[5::29] = "A", "C"
    events = pa.table({"type": pa.array(types), "time": np.arange(400), "p": np.arange(400) % 2 - 3})
    query = f"RETURN {returned} PATTERN SEQ(A, B+, C) WHERE [p] WITHIN 300 seconds SLIDE 10 seconds"
    found = rows(query, events)
    assert max(int(str(row["COUNT(*)"])) for row in found) > 2**64
    assert bool(tried) == (returned == "COUNT(*)")
    assert all(tried)
    monkeypatch.setattr(counting, "MOST_NUMBERS", 0)
    assert found == rows(query, events)
    approximate = rows(query, events, "approximate")
    for exact, near in zip(found, approximate, strict=True):
        assert float(str(near["COUNT(*)"])) == pytest.approx(float(str(exact["COUNT(*)"])), rel=1e-9)


def test_segments_that_stop_are_tried_less_and_less(tried: list[bool]) -> None:
    events = stream(1_000, ties=True, partitions=1)
    rows("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE [p] WITHIN 2 seconds SLIDE 2 seconds", events)
    assert len(tried) > 100
    assert not all(tried)


def test_what_needs_more_than_counts_is_not_tried(tried: list[bool]) -> None:
    rows("RETURN COUNT(*), MAX(B.p) PATTERN SEQ(A, B+) WHERE [p] WITHIN 9 seconds SLIDE 9 seconds", stream(100, False))
    assert not tried


@pytest.mark.parametrize("low", [-(2**63), -5, 0, 2**63 - 70_000])
def test_words_near_each_other_and_far_apart_keep_their_numbers(low: int) -> None:
    """Those near the first ones have a table of their own; all are numbered in the order in which they come."""
    near = low + np.arange(keys.DIRECT_WORDS + 10)
    words = np.concatenate([near[::-1], near, [2**63 - 1, -(2**63), 0], near[:5]]).astype(np.int64)
    valid = np.arange(len(words)) % 10 != 0
    tuples, order = keys.Tuples(1), dict[int, int]()
    expected = [
        order.setdefault(word, len(order)) if known else -1 for word, known in zip(words.tolist(), valid, strict=True)
    ]
    cut = len(words) // 3
    found = [tuples.numbers(words[None, at], valid[at]).tolist() for at in (slice(cut), slice(cut, None))]
    assert [*found[0], *found[1]] == expected
    assert len(tuples.direct) == keys.DIRECT_WORDS
