"""The table of kinds is complete: a kind or a strategy that comes is asked everything, or says why not."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from elsinore.errors import WorkloadError
from elsinore.planner.plans.kinds import KINDS as SET_KINDS
from elsinore.planner.plans.strategies import DETECTING, METHODS
from tests.conformance.kinds import JUDGED_ELSEWHERE, KINDS, Kind
from tests.conformance.matrix import PROPERTIES
from tests.support.streams import planned

HERE = Path(__file__).parent
TESTS = HERE.parent


def test_every_property_is_asked_by_one_test() -> None:
    texts = "".join(path.read_text("utf-8") for path in HERE.glob("test_*.py"))
    assert Counter(re.findall(r'^@of_each_\w+\("(.*)"\)$', texts, re.MULTILINE)) == Counter(PROPERTIES)


def test_every_kind_of_share_set_is_in_the_table() -> None:
    found = {
        type(one)
        for kind in KINDS.values()
        for strategy in kind.strategies
        for one in planned(kind.workload("COUNT(*)"), strategy).share_sets
    }
    assert found.isdisjoint(JUDGED_ELSEWHERE)
    assert {*found, *JUDGED_ELSEWHERE} == {kind.made for kind in SET_KINDS}


def test_what_judges_other_kinds_is_there() -> None:
    for kind, (why, judges) in JUDGED_ELSEWHERE.items():
        assert len(why) > 20, kind
        assert judges
        assert all((TESTS / judge).exists() for judge in judges), kind


@pytest.mark.parametrize("strategy", sorted({*METHODS} - {"auto"}))
def test_strategies_that_count_refuse_matches(strategy: str) -> None:
    """So no property of the table is left unasked of a strategy because its kind is judged elsewhere."""
    text = "QUERY q0 RETURN MATCHES PATTERN SEQ(A, B) WITHIN 6 seconds"
    with pytest.raises(WorkloadError, match=f"strategy {strategy} cannot run RETURN MATCHES"):
        planned(text, strategy)


@pytest.mark.parametrize("strategy", DETECTING)
def test_strategies_of_detection_refuse_aggregates(strategy: str) -> None:
    text = "QUERY q0 RETURN COUNT(A), COUNT(*) PATTERN SEQ(A, B) WITHIN 6 seconds SLIDE 3 seconds"
    with pytest.raises(WorkloadError, match=rf"strategy {strategy} cannot run RETURN COUNT\(A\)"):
        planned(text, strategy)


def test_every_strategy_is_in_the_table() -> None:
    """`auto` and `gloria-noprune` run the generated cases of GLORIA."""
    assert {name for kind in KINDS.values() for name in kind.strategies} == {*METHODS} - {"auto", "gloria-noprune"}


@pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in KINDS.items()])
def test_what_cannot_be_asked_is_a_property_that_others_are_asked(kind: Kind) -> None:
    assert set(kind.meaningless) <= {*PROPERTIES}
    assert all(len(why) > 20 for why in kind.meaningless.values())
