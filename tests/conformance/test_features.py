"""Of every kind, what queries may have; where one may not, it is refused, or runs apart, by name."""

from __future__ import annotations

import pytest

from elsinore.errors import WorkloadError
from elsinore.planner.explain.text import explain
from tests.conformance.features import FEATURES, workload
from tests.conformance.kinds import KINDS, Kind
from tests.support.streams import bursts, planned, run

EVENTS = bursts(200, "ABBCDXY", seed=5)
CELLS = [
    pytest.param(kind, strategy, feature, id=f"{name}-{strategy}-{feature}")
    for name, kind in KINDS.items()
    for strategy in kind.strategies
    for feature in FEATURES
]


def blank(kind: Kind, strategy: str, feature: str) -> str | None:
    return kind.blanks.get(f"{feature}, {strategy}", kind.blanks.get(feature))


@pytest.mark.parametrize(("kind", "strategy", "feature"), CELLS)
def test_feature(kind: Kind, strategy: str, feature: str) -> None:
    text, why = workload(kind, FEATURES[feature]), blank(kind, strategy, feature)
    try:
        said = explain(planned(text, strategy))
    except WorkloadError as error:
        refused_by_name(error, why)
        return
    assert (kind.shown in said) == (why is None), said
    assert why is None or why in said, said
    assert run(text, EVENTS, strategy=strategy) == run(text, EVENTS, strategy=kind.other)


def refused_by_name(error: WorkloadError, why: str | None) -> None:
    """The message is complete, has a place, and says what to do."""
    problem = error.problems[0]
    assert problem.message == why
    assert problem.query == "q0"
    assert problem.place is not None
    assert problem.hint
    if problem.message.startswith("strategy "):
        assert 'use strategy="auto"' in problem.hint


def test_every_blank_is_of_a_feature() -> None:
    for name, kind in KINDS.items():
        known = {*FEATURES, *(f"{feature}, {strategy}" for feature in FEATURES for strategy in kind.strategies)}
        assert set(kind.blanks) <= known, name
