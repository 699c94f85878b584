"""A run that looks at its first batch has the rows of any other."""

from __future__ import annotations

import pyarrow as pa
import pytest

import elsinore
from elsinore.bench.gloria.streams import both, bursty
from elsinore.cluster.run.local import LocalRun
from elsinore.cluster.run.plan_sample import MIN_EVENTS
from elsinore.connectors.rows.row_tables import answers, columns_of
from elsinore.connectors.sources import open_events
from elsinore.planner.checks.check import check_text
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans import auto
from elsinore.planner.plans.planning import plan


@pytest.mark.one_in(2)
@pytest.mark.parametrize("burst", [1, 100])
def test_the_first_batch_tells_what_a_stream_is_like(burst: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "SEARCH_PART", 0)
    text, events = both(50, 50), bursty(2 * MIN_EVENTS, 3_000, burst)
    checked = check_text(text)
    run = LocalRun(plan(checked, "auto"), open_events(events, time_unit="ms"))
    before = run.plan
    parts = list(run)
    found = answers(parts, columns_of(checked), run.clock)
    assert run.plan.choices != before.choices
    assert {isinstance(one, PlannedSet) for one in run.plan.share_sets} == ({True} if burst == 1 else {False})
    expected = elsinore.run(text, events, engine="local", strategy="cogra", time_unit="ms")
    assert sum(map(len, found.values())) == len(expected) > 0
    assert elsinore.run(text, events, engine="local", time_unit="ms").rows() == expected.rows()


def taking_turns(burst: int) -> pa.Table:
    """Streams of 20 partitions: in each of them bursts are as long; of the whole stream hardly any is."""
    parts = [bursty(MIN_EVENTS // 2, 1_500, burst, seed) for seed in range(20)]
    split = [part.append_column("p", pa.array([p] * len(part))) for p, part in enumerate(parts)]
    return pa.concat_tables(split).unify_dictionaries().sort_by("time")


def split(text: str) -> str:
    queries = text.split(";")
    return ";".join(
        one.replace(" WHERE", " WHERE [p] AND") if " WHERE" in one else one.replace(" WITHIN", " WHERE [p] WITHIN")
        for one in queries
    )


@pytest.mark.parametrize("burst", [1, 100])
def test_bursts_are_those_of_partitions(burst: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "SEARCH_PART", 0)
    text, events = split(both(50, 50)), taking_turns(burst)
    run = LocalRun(plan(check_text(text), "auto"), open_events(events, time_unit="ms"))
    rows = sum(map(len, run))
    assert {isinstance(one, PlannedSet) for one in run.plan.share_sets} == ({True} if burst == 1 else {False})
    assert rows == len(elsinore.run(text, events, engine="local", strategy="cogra", time_unit="ms")) > 0


def test_queries_that_split_the_stream_in_other_ways_are_not_told_by_it() -> None:
    text = both(30, 50).replace("WITHIN", "WHERE [speed] WITHIN", 1)
    run = LocalRun(plan(check_text(text), "auto"), open_events(bursty(2 * MIN_EVENTS, 3_000, 1), time_unit="ms"))
    before = run.plan
    for _ in run:
        pass
    assert run.plan is before
