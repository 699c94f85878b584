"""Every strategy is another way to the same rows: those of the vectors."""

from __future__ import annotations

from typing import Any

import pytest

import elsinore
from elsinore.planner.plans.strategies import METHODS
from tests.oracle.compare import differences
from tests.support.streams import refused
from tests.vectors import CASES

RUN = {"auto": 1.0, "greta": 1.0, "two-step": 0.9, "sharon": 0.1, "a-seq": 0.09}
"""The share of the vectors, at least, that a strategy does not refuse."""


@pytest.mark.one_in(6)
@pytest.mark.parametrize("strategy", METHODS)
def test_rows_are_those_of_the_vectors(strategy: str) -> None:
    run = [case for case in CASES if agrees_with_vector(case, strategy)]
    assert len(run) >= RUN.get(strategy, 1.0) * len(CASES), f"{len(run)} of {len(CASES)}"


def agrees_with_vector(case: dict[str, Any], strategy: str) -> bool:
    """Was it run?"""
    if refused(case["workload"], strategy):
        return False
    rows = elsinore.run(case["workload"], case["events"], strategy=strategy).rows()
    assert differences(case["expected"], rows, "exact") == [], case["name"]
    return True
