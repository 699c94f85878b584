"""What events say of a plan, against counts by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import elsinore
from elsinore.actors.detection.joins import observing
from elsinore.inputs import checked
from elsinore.planner.detection.planned_sets import planned_sets
from elsinore.planner.plans.planning import plan
from elsinore.sampling import known_from

TIMES = (0, 1, 2, 4, 5, 7, 9, 10)
TYPES = "ABCABBCC"
VALUES = (3, 5, 6, 1, 2, 4, 5, 9)
EVENTS = pa.table({"type": list(TYPES), "time": list(TIMES), "v": list(VALUES)})
WORKLOAD = """
QUERY one RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE a.v < b.v WITHIN 8 seconds;
QUERY two RETURN MATCHES PATTERN SEQ(A a, B b, NOT C n, C c) WHERE a.v < b.v AND b.v < c.v WITHIN 5 seconds
"""


def in_window(names: str, window: int) -> float:
    """Return how many matches of a sequence, of which the first two are compared, are in a window at a time."""
    found = 0.0
    places = [[place for place, kind in enumerate(TYPES) if kind == name] for name in names]
    for chosen in product(*places):
        times = [TIMES[place] for place in chosen]
        span = times[-1] - times[0]
        rising = len(chosen) == 1 or VALUES[chosen[0]] < VALUES[chosen[1]]
        if times == sorted(set(times)) and span < window and rising:
            found += window - span
    return found / (TIMES[-1] - TIMES[0])


def seen(workload: str = WORKLOAD) -> dict[str, Any]:
    made = plan(checked(workload), "share")
    known = known_from(made, EVENTS, {})
    (one,) = planned_sets(made, known)
    amounts = known.seen(one.plan)
    return {f"{node.structure} {node.conditions_text}".strip(): amounts.get(node.number) for node in one.plan.nodes}


def test_matches_in_a_window_are_those_of_the_enumeration() -> None:
    found = seen()
    assert found["A"] == pytest.approx(in_window("A", 8))
    assert found["SEQ(A, B) A.v < B.v"] == pytest.approx(in_window("AB", 8))
    assert found["SEQ(A, B, C) A.v < B.v"] == pytest.approx(in_window("ABC", 8))


def test_nodes_with_not_have_no_count() -> None:
    found = seen()
    assert [name for name, amount in found.items() if amount is None] == [name for name in found if "NOT" in name] != []


def test_nothing_is_counted_where_matches_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "MOST_NUMBERS", 3)
    assert set(seen().values()) == {None}


def test_explain_shows_what_was_seen_beside_what_was_expected() -> None:
    text = elsinore.explain(WORKLOAD, "share", EVENTS)
    assert "statistics estimated from 8 events" in text
    assert " expected, " in text
    assert " seen" in text
