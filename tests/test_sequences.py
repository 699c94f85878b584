"""Sequences by A-Seq, apart and shared: the rows are those of the enumeration of all trends."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import elsinore
import elsinore.actors.a_seq.forest_graph
from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.query import Query, text_of
from tests.oracle.sequences import cases, sliding
from tests.test_batches import cut, fed, shown
from tests.test_enumerator import LONG, NUMERIC, QUICK
from tests.test_sharing import ALL, Tally

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]
STRATEGIES = ("a-seq", "prefix", "chop-connect")


def agree(case: Case, room: int, numeric: Numeric, tally: Tally) -> None:
    queries, events = case
    text = text_of(queries)
    expected = answer(queries, events)
    tally.note("cases", True)
    tally.note("rows", bool(expected))
    for strategy in STRATEGIES:
        note(f"{text}\n" + "\n".join(map(str, events)) + f"\n{strategy}, room={room}, numeric={numeric}")
        with patch.object(elsinore.actors.a_seq.forest_graph, "SNAPSHOT_ROWS", room):
            rows = elsinore.run(text, events, strategy=strategy, numeric=numeric).rows()
        assert differences(expected, rows, numeric) == []
        pieces = [len(route.cuts) for one in sets_of(text, strategy) for route in one.forest.routes]
        tally.note(f"{strategy}: shared", bool(pieces))
        tally.note(f"{strategy}: connected", max(pieces, default=1) > 1)
        tally.note(f"{strategy}: connected twice", max(pieces, default=1) > 2)


def sets_of(text: str, strategy: str) -> list[ForestSet]:
    return [one for one in plan(check_text(text), strategy).share_sets if isinstance(one, ForestSet)]


def enumerated(how: settings, most: int) -> Tally:
    tally = Tally()

    @how
    @given(cases(most), st.sampled_from((1, 4, 1024)), NUMERIC)
    def every_case(case: Case, room: int, numeric: Numeric) -> None:
        agree(case, room, numeric, tally)

    every_case()
    return tally


def test_rows_are_those_of_the_enumeration() -> None:
    tally = enumerated(settings(QUICK, max_examples=60), 20)
    assert tally.share("rows") > 0.5, tally.found
    assert tally.share("prefix: shared") > 0.1, tally.found
    assert tally.share("chop-connect: connected") > 0.2, tally.found
    assert tally.share("chop-connect: connected twice") > 0.02, tally.found


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
def test_rows_are_those_of_the_enumeration_at_length() -> None:
    assert enumerated(settings(LONG, max_examples=2000), 24).share("chop-connect: connected twice") > 0.02


@settings(QUICK, max_examples=25)
@given(cases(12), NUMERIC)
def test_windows_of_panes_are_those_of_the_enumeration(case: Case, numeric: Numeric) -> None:
    queries, events = sliding(case[0]), case[1]
    note(f"{text_of(queries)}\n" + "\n".join(map(str, events)))
    rows = elsinore.run(text_of(queries), events, strategy="a-seq", numeric=numeric).rows()
    assert differences(answer(queries, events), rows, numeric) == []


@settings(QUICK, max_examples=25)
@given(cases(14), st.sampled_from(STRATEGIES), st.randoms(use_true_random=False), st.booleans())
def test_batches_and_snapshots_never_show(case: Case, strategy: str, random: Random, saved: bool) -> None:
    queries, events = case
    batches = list(cut(events, random))
    note(f"{text_of(queries)}\n" + "\n".join(map(str, batches)))
    made = plan(check_text(text_of(queries)), strategy)
    assume(strategy == "a-seq" or made.share_sets)
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed(made, clock, batches, saved) for row in shown(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []
