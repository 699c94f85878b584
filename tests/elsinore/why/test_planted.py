"""Test that `elsinore.why` finds planted mistakes, and that each change that it proposes gives a row."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import elsinore
from elsinore.reasons.asking import why
from tests.elsinore.why.planted import CASES, Planted


def events_of(case: Planted) -> Any:
    """Return the events of a case, as they can be read anew."""
    if case.chunk is None:
        return case.events
    return pl.DataFrame(case.events).to_arrow().to_reader(max_chunksize=case.chunk)


def test_there_are_forty_cases() -> None:
    assert len(CASES) == 40
    assert len({case.name for case in CASES}) == 40


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_planted_cause_comes_first(case: Planted) -> None:
    (reason,) = why(case.query, events_of(case), **case.asked, **case.options).reasons
    assert [cause.kind for cause in reason.causes][:1] == [case.kind], reason.to_dict()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_proposed_change_gives_a_row(case: Planted) -> None:
    (reason,) = why(case.query, events_of(case), **case.asked, **case.options).reasons
    for cause in reason.causes:
        if cause.tested and not cause.tested.events_changed:
            options = case.options | dict(cause.tested.reading)
            found = elsinore.run(cause.tested.query, events_of(case), engine="local", **options)
            assert len(found) > 0, cause.to_dict()
