"""When a stream has drifted, and what it was like."""

from __future__ import annotations

from fractions import Fraction

import pytest

from elsinore.planner.costs.drift import Observed, drifted
from elsinore.planner.gloria.templates.template import TypeNode


def observed(seconds: int, counts: dict[str, int], bursts: dict[str, int] | None = None) -> Observed:
    return Observed(Fraction(seconds), counts, bursts or counts)


def test_events_of_a_window() -> None:
    """120 in a minute are 20 in ten seconds."""
    found = observed(60, {"A": 120, "B": 3}).per_window(Fraction(10))
    assert [found.of(TypeNode(name)) for name in "ABC"] == [20, 0.5, 0]


def test_partitions_of_a_window() -> None:
    """Six minutes of a stream in which 20 partitions are alive; later only one in four partitions is observed."""
    seen = Observed(Fraction(360), {"A": 1200}, {"A": 60}, 120)
    assert seen.per_window(Fraction(60)).partitions == 20
    assert seen.per_window(Fraction(60)).counts == {"A": 10}
    assert seen.per_window(Fraction(60), parts=4).partitions == 80
    assert observed(60, {"A": 120}).per_window(Fraction(10)).partitions == 1


def test_shards_add_up() -> None:
    both = observed(60, {"A": 120}, {"A": 12}).with_shard(observed(50, {"A": 30, "B": 4}, {"A": 3, "B": 2}))
    assert both == Observed(Fraction(60), {"A": 150, "B": 4}, {"A": 15, "B": 2})
    assert (both.length("A"), both.length("B"), both.length("C")) == (10, 2, 0)


BEFORE = observed(100, {"A": 99, "B": 999}, {"A": 99, "B": 111})


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (observed(100, {"A": 199, "B": 999}, {"A": 199, "B": 111}), ""),
        (observed(100, {"A": 200, "B": 999}, {"A": 200, "B": 111}), "A"),
        (observed(100, {"A": 49, "B": 999}, {"A": 49, "B": 111}), ""),
        (observed(100, {"A": 48, "B": 999}, {"A": 48, "B": 111}), "A"),
        (observed(50, {"A": 49, "B": 500}, {"A": 49, "B": 55}), ""),
        (observed(200, {"A": 99, "B": 2000}, {"A": 99, "B": 200}), ""),
        (observed(200, {"A": 98, "B": 2000}, {"A": 98, "B": 200}), "A"),
        (observed(100, {"A": 99, "B": 999, "C": 1}, {"A": 99, "B": 111, "C": 1}), ""),
        (observed(100, {"A": 99, "B": 999, "C": 2}, {"A": 99, "B": 111, "C": 2}), "C"),
        (observed(100, {"B": 999}, {"B": 111}), "A"),
        (observed(100, {"A": 99, "B": 999}, {"A": 99, "B": 53}), ""),
        (observed(100, {"A": 99, "B": 999}, {"A": 99, "B": 50}), "B"),
        (observed(100, {"A": 99, "B": 999}, {"A": 99, "B": 333}), "B"),
    ],
)
def test_twice_as_many_or_half_of_them(now: Observed, expected: str) -> None:
    """One event more, on both sides, is no drift. Bursts of B were 9 long."""
    assert drifted(BEFORE, now, 2.0) == frozenset(expected)
