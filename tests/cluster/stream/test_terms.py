"""All processes that read the terms of an era make the same plans."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from elsinore.actors.plan_state import save_plan
from elsinore.actors.shells.replanner import Replanner
from elsinore.actors.state import pack, unpack
from elsinore.cluster.stream.terms import Terms
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.drift import Observed
from elsinore.planner.gloria.sets import PlannedSet
from tests.cluster.eras import SPLIT, WINDOW, WORKLOAD, plans, terms

FEW = Observed(Fraction(10), {"A": 5, "B": 10, "C": 3, "X": 4}, {"A": 5, "B": 4, "C": 3, "X": 4})
MANY = Observed(Fraction(31, 3), {"A": 5, "B": 1, "C": 1000, "X": 4}, {"A": 5, "B": 1, "C": 10, "X": 4})


THERE = """
import sys
from elsinore.actors.state import unpack
from elsinore.cluster.stream.terms import Terms
from tests.cluster.eras import plans
sys.stdout.buffer.write(plans(Terms.read(unpack(sys.stdin.buffer.read()))))
"""


@pytest.mark.parametrize("strategy", ["auto", "gloria"])
def test_another_process_makes_the_same_plans_of_them(strategy: str) -> None:
    era_terms = terms(strategy, whole=MANY, split=FEW)
    read = Terms.read(unpack(pack(era_terms.document())))
    assert read == era_terms
    assert read.statistics == era_terms.statistics
    for seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", THERE],
            input=pack(era_terms.document()),
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert there.stdout == plans(era_terms)
    assert plans(era_terms) != plans(terms(strategy))


def test_of_checkpoints_that_know_nothing_of_statistics() -> None:
    document = terms().document()
    del document["statistics"]
    assert Terms.read(document) == terms()
    assert plans(Terms.read(document)) == plans(terms())


@pytest.mark.parametrize("strategy", ["auto", "gloria"])
def test_who_looks_for_better_plans_begins_with_those_that_run(strategy: str) -> None:
    era_terms = terms(strategy, split=MANY)
    for route, seen, run in zip(era_terms.routes, (None, MANY), era_terms.duty().plans, strict=True):
        made = check_text(WORKLOAD)
        along = replace(made, queries=tuple(query for query in made.queries if query.name in route.queries))
        assert save_plan(Replanner(along, strategy, seen=seen, kept=False).plan) == save_plan(run)


def test_statistics_change_plans_and_not_routes() -> None:
    few, many = terms(whole=FEW), terms(whole=MANY)
    assert few.routes == many.routes == terms().routes
    assert few.duty().types == many.duty().types
    assert few == many
    assert len({few, many}) == 1
    shared = [
        {one.members for one in Replanner(check_text(WORKLOAD), "gloria", seen=seen, kept=False).plan.share_sets}
        for seen in (FEW, MANY)
    ]
    assert shared[0] != shared[1]


def test_what_is_known_stays_known_where_queries_name_the_same_types() -> None:
    era_terms = terms(whole=MANY, split=FEW)
    fewer = WORKLOAD.rsplit("; ", 1)[0]
    assert era_terms.changed(WORKLOAD, "gloria", 3).statistics == era_terms.statistics
    assert era_terms.changed(fewer, "gloria", 2).statistics == era_terms.statistics
    more = f"{WORKLOAD}; QUERY more RETURN COUNT(*) PATTERN SEQ(A, Z) {WINDOW}"
    assert era_terms.changed(more, "gloria", 2).statistics == {SPLIT: FEW}
    assert era_terms.changed(WORKLOAD, "auto", 2).statistics == {}


def test_planned_sets_are_there_to_choose_among() -> None:
    assert any(isinstance(one, PlannedSet) for one in terms().plan.share_sets)
