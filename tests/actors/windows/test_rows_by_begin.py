"""Rows of counters by the begin of trends have the results of rows by window and of maps of panes."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.model import Panes, Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.long_streams import EVENTS
from tests.support.streams import Row, cut, fed, shown

SHORT = EVENTS.slice(0, 4_000)
ITEMS = "COUNT(*), COUNT(B), MIN(B.v), SUM(B.v)"
PATTERNS = ("SEQ(A, B+)", "SEQ(A, B+, C)", "SEQ(NOT C, A, B+)")
WINDOWS = ((20, 10), (60, 20), (50, 20), (60, 10), (45, 7))
"""Lengths and slides in seconds: two windows that overlap, three, three that end within another's slide, and more."""


def workload(semantics: str, within: int, slide: int) -> str:
    return "; ".join(
        f"RETURN {ITEMS} PATTERN {pattern} SEMANTICS {semantics} WHERE [k] "
        f"WITHIN {within} seconds SLIDE {slide} seconds"
        for pattern in PATTERNS
    )


def of_panes(made: Plan, panes: Panes) -> Plan:
    return replace(made, queries=tuple(replace(one, panes=panes) for one in made.queries))


def rows(made: Plan) -> list[Row]:
    return fed(started(made), cut(SHORT, 1_000))


def started(made: Plan) -> Engine:
    return Engine(made, Clock.of(pa.int64(), "s", made.spans))


@pytest.mark.parametrize(("within", "slide"), WINDOWS)
@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_every_way_to_keep_windows_has_the_same_rows(semantics: str, within: int, slide: int) -> None:
    made = plan(check_text(workload(semantics, within, slide)), "cogra")
    ways = [of_panes(made, panes) for panes in get_args(Panes)]
    kept = [tuple(one.window_method(one.counters[0]) for one in way.queries) for way in ways]
    expected = rows(ways[0])
    assert len(expected) > 50
    for way in ways[1:]:
        assert rows(way) == expected
    if slide == 10 and within == 60:
        assert len(set(kept)) > 1


@pytest.mark.parametrize("strategy", ["cogra", "hamlet", "gloria"])
@pytest.mark.parametrize("panes", ["few", "earlier"])
def test_a_state_keeps_its_windows_as_they_were(strategy: str, panes: Panes) -> None:
    """A plan that is made anew does not know what panes are like."""
    made = plan(check_text(workload("any", 60, 20)), strategy)
    engine = started(of_panes(made, panes))
    batches = list(cut(SHORT, 1_000))
    found = [*engine.feed(batches[0]), *engine.feed(batches[1])]
    again = Engine.restore(made, engine.save())
    assert not again.changing
    twice = Engine.restore(made, again.save())
    found += [rows for batch in batches[2:] for rows in twice.feed(batch)]
    assert shown(twice, [*found, *twice.finish()]) == rows(made)


def test_an_empty_trend_that_events_change_has_a_row_per_window() -> None:
    made = plan(check_text(workload("any", 60, 20)), "cogra")
    assert [one.rows_by_begin(one.counters[0]) for one in made.queries] == [True, True, False]
