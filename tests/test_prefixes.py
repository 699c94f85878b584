"""Queries whose sequences begin alike share counters, and the rows are those of the enumeration of all trends."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import elsinore
from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.prefixes import cases
from tests.oracle.query import Query, text_of
from tests.support.batches import cut, fed, shown
from tests.support.generated import LONG, NUMERIC, QUICK, Tally

ALL = os.environ.get("ELSINORE_TEST") == "all"

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


def trees(made: Plan) -> list[PrefixSet]:
    return [one for one in made.share_sets if isinstance(one, PrefixSet)]


def agree(case: Case, numeric: Numeric, tally: Tally) -> None:
    queries, events = case
    text = text_of(queries)
    note(f"{text}\n" + "\n".join(map(str, events)) + f"\nnumeric={numeric}")
    found = trees(plan(check_text(text), "sharon"))
    tally.note("cases", True)
    tally.note("a share set", bool(found))
    tally.note("branches", any(len({*one.tree.owners[1:]}) > 2 for one in found))
    tally.note("variables that are one", any(len(names(one)) < sum(map(len, names_of(one))) for one in found))
    tally.note("variables that are not", any(len(names(one)) > max(map(len, names_of(one))) for one in found))
    rows = elsinore.run(text, events, strategy="sharon", numeric=numeric).rows()
    assert differences(answer(queries, events), rows, numeric) == []


def names_of(one: PrefixSet) -> list[set[str]]:
    """By query: what it aggregates, as the tree has it."""
    return [set(branch.names.values()) for branch in one.tree.branches]


def names(one: PrefixSet) -> set[str]:
    return set[str]().union(*names_of(one))


def enumerated(how: settings, most: int) -> Tally:
    tally = Tally()

    @how
    @given(cases(most), NUMERIC)
    def every_case(case: Case, numeric: Numeric) -> None:
        agree(case, numeric, tally)

    every_case()
    return tally


def test_rows_are_those_of_the_enumeration() -> None:
    tally = enumerated(settings(QUICK, max_examples=60), 12)
    for what, share in {
        "a share set": 0.6,
        "branches": 0.4,
        "variables that are one": 0.1,
        "variables that are not": 0.1,
    }.items():
        assert tally.share(what) > share, tally.found


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
def test_rows_are_those_of_the_enumeration_at_length() -> None:
    assert enumerated(settings(LONG, max_examples=2000), 14).share("a share set") > 0.6


@settings(QUICK, max_examples=30)
@given(cases(12, whole=True), st.randoms(use_true_random=False), st.booleans())
def test_batches_and_snapshots_never_show(case: Case, random: Random, saved: bool) -> None:
    queries, events = case
    batches = list(cut(events, random))
    note(text_of(queries) + "\n" + "\n".join(map(str, batches)))
    made = plan(check_text(text_of(queries)), "sharon")
    assume(made.share_sets)
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed(made, clock, batches, saved) for row in shown(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []
