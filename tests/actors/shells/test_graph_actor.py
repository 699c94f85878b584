"""Calls of Ray's may be lost, run twice, or run in another order: a graph actor takes each batch once, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from elsinore.actors.shells.blocks_in import Bounds, buffer_of
from elsinore.actors.shells.graph_actor import Answer, Duty, GraphActor, OutOfOrderError
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.routes import routes
from elsinore.planner.time.clock import Clock

WORKLOAD = "RETURN COUNT(*), SUM(A.v) PATTERN SEQ(A+, B) WITHIN 10 seconds SLIDE 5 seconds"
BATCHES = 12
GROUPS = 8


class Keeping:
    """Of a live stream."""

    def put_events(self, batch: int, place: int, blocks: Sequence[memoryview]) -> None: ...

    def put_state(self, batch: int, place: int, state: bytes) -> None: ...


def actor(place: int = 0, groups: Bounds = (0, GROUPS), keeper: Keeping | None = None) -> GraphActor:
    made = plan(check_text(WORKLOAD))
    clock = Clock.of(pa.int64(), "s", made.spans)
    duty = Duty(routes(made.workload), (made,), tuple(sorted(made.types)), clock.save(), "exact", optimizer_of("auto"))
    begun = GraphActor()
    begun.begin(replace(duty, keeper=keeper, unsafe=BATCHES), None, place, [groups])
    return begun


def take(on: GraphActor, number: int) -> Answer:
    """The batch of this number; after the last one the stream is over."""
    if number == BATCHES + 1:
        return on.take(number, None)
    times = [4 * number + step for step in range(4)]
    kinds = pa.array([0, 0, 1, 0], pa.int16())
    events = {"kind": kinds, "ticks": times, "a_v": [number + time for time in times], "g_0": [0, 7, 3, 3]}
    return on.take(number, times[-1] + 1, buffer_of(pa.table(events)))


def rows(answer: Answer) -> list[Any]:
    return [(rows.query, rows.window_start.tolist(), repr(rows.finished().values)) for rows in answer[1]]


@pytest.fixture(scope="module")
def expected() -> list[list[Any]]:
    undisturbed = actor()
    found = [rows(take(undisturbed, number)) for number in range(1, BATCHES + 2)]
    assert sum(map(len, found)) > BATCHES / 2
    return found


@pytest.mark.parametrize(("place", "counted"), [(0, {"A": 2, "B": 1}), (1, {"A": 1})])
def test_each_event_of_a_live_stream_is_counted_by_one_actor(place: int, counted: dict[str, int]) -> None:
    groups = (place * GROUPS // 2, (place + 1) * GROUPS // 2)
    assert take(actor(place, groups, Keeping()), 1)[0].types == counted
    assert take(actor(place, groups), 1)[0].types == {}


@pytest.mark.parametrize("seed", range(20))
def test_batches_again_and_out_of_order(expected: list[list[Any]], seed: int) -> None:
    random, disturbed = Random(seed), actor()
    for number in range(1, BATCHES + 2):
        for _ in range(random.randint(0, 3)):
            asked = random.randint(1, BATCHES + 1)
            if asked < number:
                assert rows(take(disturbed, asked)) == expected[asked - 1]
            elif asked > number:
                with pytest.raises(OutOfOrderError, match=f"batch {asked} came after batch {number - 1}"):
                    take(disturbed, asked)
            assert disturbed.reached() == number - 1
        assert rows(take(disturbed, number)) == expected[number - 1]


def test_a_batch_whose_rows_are_safe_is_not_kept() -> None:
    one = actor()
    for number in range(1, BATCHES + 2):
        take(one, number)
    with pytest.raises(OutOfOrderError, match=f"batch 1 came after batch {BATCHES + 1}"):
        take(one, 1)
    with pytest.raises(OutOfOrderError, match="the matches of batch 1 are not kept"):
        one.more(1, Counter())


def test_what_a_state_holds_is_not_taken_again(expected: list[list[Any]]) -> None:
    first, second = actor(), actor()
    for number in range(1, 6):
        take(first, number)
    with pytest.raises(OutOfOrderError, match="batch 4 is not the last"):
        first.save(4)
    assert second.restore(first.save(5)) == second.reached() == 5
    with pytest.raises(OutOfOrderError):
        take(second, 5)
    assert [rows(take(second, number)) for number in range(6, BATCHES + 2)] == expected[5:]
