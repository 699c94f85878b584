"""RETURN COUNT(*) counts the distinct sequences of events of the matches of the same pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import elsinore
from tests.actors.detection.support import run

PATTERNS = [
    "SEQ(A, B, C)",
    "SEQ(A, B+, C)",
    "(SEQ(A, B))+",
    "SEQ(A, NOT N, B)",
    "SEQ(A, (B | C), B b2{1,2})",
    "SEQ(A x+, A y)",
    "SEQ(A, B?, C{2})",
]


def stream() -> list[dict[str, Any]]:
    draw = np.random.default_rng(5)
    times = np.sort(draw.integers(0, 60, 45)).tolist()
    return [
        {"id": n, "type": "ABCN"[int(draw.choice(4, p=[0.3, 0.3, 0.3, 0.1]))], "time": time, "v": int(draw.integers(9))}
        for n, time in enumerate(times)
    ]


def events_of(row: dict[str, Any]) -> frozenset[int]:
    found: set[int] = set()
    for name, value in row.items():
        if name not in ("query", "start", "end") and value is not None:
            found |= set(value) if isinstance(value, list) else {value}
    return frozenset(found)


@pytest.mark.parametrize("semantics", ["skip-till-any-match", "skip-till-next-match", "contiguous"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_are_those_of_the_matches(pattern: str, semantics: str) -> None:
    """One window holds each of the disjoint stretches of time, so that the counts of windows add up."""
    events = stream()
    text = f"PATTERN {pattern} SEMANTICS {semantics} WITHIN 15 seconds"
    counted = elsinore.run(f"RETURN COUNT(*) {text} SLIDE 15 seconds", events, engine="local").rows()
    matches = [row for row in run(f"RETURN MATCHES {text}", events) if row["start"] // 15 == row["end"] // 15]
    sequences = {(row["start"] // 15 * 15, events_of(row)) for row in matches}
    found = {row["window_start"]: sum(start == row["window_start"] for start, _ in sequences) for row in counted}
    assert {row["window_start"]: row["COUNT(*)"] for row in counted} == found
    assert sum(found.values()) == len(sequences)
