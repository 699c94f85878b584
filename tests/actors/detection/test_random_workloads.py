"""Random workloads against the enumeration of all matches."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from elsinore.planner.plans.strategies import DETECTING
from tests.actors.detection.support import multiset, run, shown
from tests.oracle.detecting import cases
from tests.oracle.detection import matches, numbered
from tests.oracle.query import Query, text_of
from tests.support.generated import fresh

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


STRATEGIES = st.sampled_from(["auto", *DETECTING])


@fresh(60)
@given(cases(9, 4), st.lists(st.integers(0, 20), max_size=3), st.booleans(), STRATEGIES)
def test_matches_are_those_of_the_enumeration(case: Case, cuts: list[int], save: bool, strategy: str) -> None:
    workload, events = case
    found = run(text_of(workload), events, cuts, save, strategy)
    assert multiset(found) == multiset(numbered(matches(workload, events)))
    for query in workload:
        if not cuts:
            # With NOT at the end, matches that begin late are known late: they are in an output of their own.
            rows = sorted(found, key=lambda row: (row["end"], row["start"]))
            own = [shown(row) for row in rows if row["query"] == query.name]
            assert own == [shown(row) for row in numbered(matches([query], events))]
