"""The plan of a running engine: chosen once, changed beside the stream when that drifts, and not seen in rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.detection.joins import changes, planned
from elsinore.actors.detection.run import DetectionRun, DetectionSetting
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.detection.choosing import PlanRequest, chosen_trees
from elsinore.planner.detection.strategies.request import Trees
from elsinore.planner.time.clock import Clock
from tests.actors.detection.support import queries_of

WORKLOAD = """
QUERY one RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE a.v < b.v AND b.v < c.v WITHIN 40 seconds;
QUERY two RETURN MATCHES PATTERN SEQ(A a, B b, D d) WHERE a.v < b.v AND b.v < d.v WITHIN 40 seconds;
QUERY three RETURN MATCHES PATTERN SEQ(B b, C c, D d) WHERE b.v < c.v AND c.v < d.v WITHIN 40 seconds
"""

BATCH_EVENTS = 4096


def batches(shares: list[dict[str, float]]) -> Iterator[Batch]:
    """Yield a batch for each distribution of types, an event a second."""
    rng, time = np.random.default_rng(17), 0
    for share in shares:
        names, odds = list(share), np.array(list(share.values()))
        types = pa.array(rng.choice(names, BATCH_EVENTS, p=odds / odds.sum())).dictionary_encode()
        times = np.arange(time, time + BATCH_EVENTS)
        time += BATCH_EVENTS
        columns = {"v": pa.array(rng.integers(0, 1000, BATCH_EVENTS))}
        yield Batch(types, times, columns, np.zeros(BATCH_EVENTS, np.int32), time)


def one_batch(some: list[Batch]) -> Batch:
    types = pa.chunked_array([one.types for one in some]).unify_dictionaries().combine_chunks()
    columns = {"v": pa.concat_arrays([one.columns["v"] for one in some])}
    times = np.concatenate([one.times for one in some])
    return Batch(types, times, columns, np.concatenate([one.slots for one in some]), some[-1].later)


RARE_A = {"A": 0.02, "B": 0.3, "C": 0.3, "D": 0.38}
RARE_D = {"A": 0.38, "B": 0.3, "C": 0.3, "D": 0.02}


class Asking:
    """A chooser that remembers what it was asked and answered."""

    def __init__(self) -> None:
        self.requests: list[PlanRequest] = []
        self.answers: list[Trees] = []

    def __call__(self, request: PlanRequest) -> Trees:
        self.requests.append(request)
        self.answers.append(chosen_trees(request))
        return self.answers[-1]


def engine(strategy: str, asking: Asking, workload: str = WORKLOAD) -> DetectionRun:
    clock = Clock.of(pa.int64(), "s", [Fraction(1)])
    return DetectionRun(queries_of(workload), clock, Partitions((), 0), strategy, DetectionSetting(choose=asking))


def found(strategy: str, asking: Asking, shares: list[dict[str, float]]) -> Counter[tuple[str, tuple[int, ...]]]:
    return rows_of(engine(strategy, asking), shares)


def rows_of(run: DetectionRun, shares: list[dict[str, float]]) -> Counter[tuple[str, tuple[int, ...]]]:
    rows: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for batch in batches(shares):
        for one in run.process(batch):
            times = np.stack([one.times[bound.rows] for bound in one.bound.values()], axis=1)
            rows.update((one.query, tuple(row)) for row in times.tolist())
        if run.planned._next is not None:
            run.planned._next.result()
    return rows


def test_a_stream_that_stays_as_it_is_is_planned_once() -> None:
    asking = Asking()
    found("auto", asking, [RARE_A] * 6)
    assert len(asking.requests) == 1


@pytest.mark.parametrize("strategy", ["auto", "mpm", "reorder"])
def test_drift_enters_a_better_plan_and_changes_no_row(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned, "CHECK_EVENTS", BATCH_EVENTS)
    shares = [RARE_A] * 3 + [RARE_D] * 5
    asking = Asking()
    rows = found(strategy, asking, shares)
    assert len(asking.requests) >= 2
    assert asking.requests[1].present == asking.answers[0]
    assert asking.answers[-1] != asking.answers[0]
    assert rows == found("trivial", Asking(), shares)


def test_a_plan_is_looked_for_within_a_batch_where_the_rates_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first check of a batch as long as all these events would be its last."""
    monkeypatch.setattr(planned, "FIRST_SLICE", BATCH_EVENTS)
    monkeypatch.setattr(changes, "BLOCK_EVENTS", BATCH_EVENTS)
    shares = [RARE_A] * 5 + [RARE_D] * 5
    whole = one_batch([*batches(shares)])
    asking = Asking()
    run = engine("mpm", asking)
    rows = sum(map(len, run.process(whole)))
    assert len(asking.requests) == 2
    assert rows == found("trivial", Asking(), shares).total()


def test_a_static_strategy_keeps_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned, "CHECK_EVENTS", BATCH_EVENTS)
    asking = Asking()
    found("mpm-static", asking, [RARE_A] * 2 + [RARE_D] * 4)
    assert len(asking.requests) == 1


def test_slices_become_shorter_where_they_store_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = found("trivial", Asking(), [RARE_A] * 2)
    monkeypatch.setattr(planned, "MOST_NUMBERS", 4000)
    monkeypatch.setattr(planned, "SLICE_NUMBERS", 2000)
    monkeypatch.setattr(planned, "LEAST_SLICE", BATCH_EVENTS // planned.SHRINKING)
    run = engine("trivial", Asking())
    assert rows_of(run, [RARE_A] * 2) == rows
    assert run.planned.tree is not None
    assert run.planned.slice_events < BATCH_EVENTS // 2


def test_a_plan_that_stores_too_much_of_short_slices_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = found("trivial", Asking(), [RARE_A] * 2)
    monkeypatch.setattr(planned, "MOST_NUMBERS", 100)
    monkeypatch.setattr(planned, "LEAST_SLICE", BATCH_EVENTS // planned.SHRINKING)
    run = engine("trivial", Asking())
    assert rows_of(run, [RARE_A] * 2) == rows
    assert run.planned.tree is None


@pytest.mark.parametrize(("where", "is_joined"), [("", False), ("WHERE a.v * 50 < b.v AND b.v < c.v", True)])
def test_a_pattern_with_many_matches_that_shares_nothing_is_left_to_its_query(where: str, is_joined: bool) -> None:
    run = engine("auto", Asking(), f"RETURN MATCHES PATTERN SEQ(A a, B b, C c) {where} WITHIN 40 seconds")
    rows_of(run, [{"A": 0.3, "B": 0.3, "C": 0.4}])
    assert run.planned.tree is not None
    assert bool(run.planned.tree.roots) == is_joined
