"""Nothing that the vectors answer changes: neither rows, under any strategy, nor where problems are."""

from __future__ import annotations

import pytest

from elsinore.planner.plans.strategies import METHODS
from tests import frozen
from tests.frozen import COMBINATIONS, NUMERICS, Combination
from tests.vectors import CASES

EVERY = 17
"""So many combinations have one that the quick tests run; it divides neither the strategies nor the numerics."""

SOME = COMBINATIONS[::EVERY]


def changed(combinations: list[Combination]) -> list[str]:
    """Return a line for each combination whose outcome is not the frozen one."""
    known = frozen.frozen()
    outcomes = {one: frozen.outcome(one) for one in combinations}
    return [f"{' '.join(one)}: {found}, not {known[one]}" for one, found in outcomes.items() if found != known[one]]


def test_some_rows_are_those_that_were_frozen() -> None:
    assert changed(SOME) == []


@pytest.mark.long
@pytest.mark.parametrize("strategy", METHODS)
def test_all_rows_are_those_that_were_frozen(strategy: str) -> None:
    assert changed([one for one in COMBINATIONS if one[2] == strategy]) == []


def test_every_combination_is_frozen() -> None:
    """Of the quick ones, every strategy and numeric has several, and few cases are left out."""
    assert set(frozen.frozen()) == set(COMBINATIONS)
    by_strategy = {strategy: [one for one in SOME if one[2] == strategy] for strategy in METHODS}
    assert min(len(found) for found in by_strategy.values()) > 8
    assert {(one[1], one[2]) for one in SOME} == {(numeric, one) for numeric in NUMERICS for one in METHODS}
    assert len({one[0] for one in SOME}) > 0.9 * len(CASES)


def test_problems_are_where_they_were() -> None:
    assert frozen.refusals() == frozen.frozen_refusals()
    assert len(frozen.frozen_refusals()) > 90


def test_a_digest_tells_rows_apart() -> None:
    row = {"query": "q", "window_start": 0, "COUNT(*)": 2**70, "AVG(A.v)": 0.1 + 0.2}
    exact = frozen.digest([row], "exact")
    others: list[dict[str, object]] = [
        {**row, "COUNT(*)": 2**70 + 1},
        {**row, "COUNT(*)": float(2**70)},
        {**row, "query": None},
        {**row, "AVG(A.v)": 0.3001},
        dict(reversed(row.items())),
    ]
    assert exact not in [frozen.digest([other], "exact") for other in others]
    assert exact not in (frozen.digest([row, row], "exact"), frozen.digest([], "exact"))
    assert frozen.digest([row], "approximate") == frozen.digest([{**row, "AVG(A.v)": 0.3}], "approximate")
