"""Every strategy is another way to the same rows: those of the vectors, and of the enumeration of all trends."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import assume, given, note, settings

import elsinore
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.planning import STRATEGIES, plan
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.query import Query, text_of
from tests.oracle.strategies import cases
from tests.support.generated import LONG, NUMERIC, QUICK
from tests.vectors import CASES

ALL = os.environ.get("ELSINORE_TEST") == "all"
OTHERS = ("greta", "two-step", "sharon")
"""The strategies that do not go the way of `auto`, whose rows have tests of their own."""

RUN = {"auto": 1.0, "greta": 1.0, "two-step": 0.9, "sharon": 0.1, "a-seq": 0.09}
"""The share of the vectors, at least, that a strategy does not refuse."""

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


@pytest.mark.parametrize("strategy", STRATEGIES)
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


@pytest.mark.parametrize("strategy", OTHERS)
def test_rows_are_those_of_the_enumeration(strategy: str) -> None:
    enumerated(strategy, settings(QUICK, max_examples=40), 10)


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
@pytest.mark.parametrize("strategy", OTHERS)
def test_rows_are_those_of_the_enumeration_at_length(strategy: str) -> None:
    enumerated(strategy, settings(LONG, max_examples=2000), 13)


def enumerated(strategy: str, how: settings, most: int) -> None:
    @how
    @given(cases(most), NUMERIC)
    def every_case(case: Case, numeric: Numeric) -> None:
        agrees(case, strategy, numeric)

    every_case()


def agrees(case: Case, strategy: str, numeric: Numeric) -> None:
    """Each query by itself, so that one that is refused does not hide the others."""
    queries, events = case
    run = tuple(query for query in queries if not ambiguous(query) and not refused(text_of((query,)), strategy))
    assume(run)
    text = text_of(run)
    note(f"{text}\n" + "\n".join(map(str, events)) + f"\nstrategy={strategy}, numeric={numeric}")
    rows = elsinore.run(text, events, strategy=strategy, numeric=numeric).rows()
    assert differences(answer(run, events), rows, numeric) == []


def refused(text: str, strategy: str) -> bool:
    workload = check_text(text)
    try:
        plan(workload, strategy)
    except elsinore.WorkloadError as error:
        return f"strategy {strategy} cannot run" in str(error)
    return False
