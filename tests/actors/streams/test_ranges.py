"""A stream that is split among engines by key groups, and again while it flows: the rows are those of one engine."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from elsinore.actors.engine import Engine
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.shells.collector import Collector
from elsinore.actors.streams.key_groups import key_groups
from elsinore.planner.checks.check import check
from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.routes import Ranges, Route, routes
from elsinore.planner.time.clock import Clock
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import differences
from tests.oracle.query import Query, text_of
from tests.oracle.strategies import cases
from tests.support.batches import cut, record_batch, shown
from tests.support.generated import fresh

GROUPS = 8


class Spread:
    """Engines for the queries of one route, one for each range."""

    def __init__(self, route: Route, workload: Workload, clock: Clock) -> None:
        self.route = route
        queries = tuple(query for query in workload.queries if query.name in route.queries)
        self.plan = plan(replace(workload, queries=queries))
        self.clock = clock
        self.ranges = Ranges.even(GROUPS, 1)
        self.engines = [Engine(self.plan, clock)]

    def take(self, events: pa.RecordBatch, watermark: int) -> list[PartialRows]:
        # As where events are dealt out: those that belong to no partition are for nobody.
        for name in self.route.partition:
            events = events.filter(events.column(name).is_valid())
        groups = self._groups(events)
        rows = []
        for number, engine in enumerate(self.engines):
            lo, hi = self.ranges.bounds(number)
            own = events.filter(pa.array((groups >= lo) & (groups < hi)))
            rows += engine.feed_partial(own, watermark)
        return rows

    def _groups(self, events: pa.RecordBatch) -> Any:
        if not self.route.keys:
            return np.full(events.num_rows, self.route.home(GROUPS))
        return key_groups([events.column(name) for name in self.route.keys], events.num_rows, GROUPS)

    def among(self, places: int) -> None:
        """Cut the ranges, and let an engine for each go on."""
        before, self.ranges = self.ranges, self.ranges.among(places)
        states = [engine.save() for engine in self.engines]
        self.engines = []
        for number in range(len(self.ranges)):
            lo, hi = self.ranges.bounds(number)
            holder = max(one for one, start in enumerate(before.starts) if start <= lo)
            if self.route.keys or lo <= self.route.home(GROUPS) < hi:
                heir = Engine.restore(self.plan, states[holder])
                if self.route.keys:
                    heir.keep(self.route.keys, GROUPS, range(lo, hi))
            else:
                heir = Engine(self.plan, self.clock)
            self.engines.append(heir)


@pytest.mark.slow
@fresh(60)
@given(cases(12, whole=True), st.integers(0, 2**32))
def test_rows_are_those_of_one_engine(case: tuple[tuple[Query, ...], list[dict[str, Any]]], seed: int) -> None:
    # Hypothesis's own randoms often return their smallest number for long, and there are hundreds of empty batches.
    queries, events, random = *case, Random(seed)
    assume(not any(map(ambiguous, queries)))
    workload = check(parse(text_of(queries)))
    made = plan(workload)
    clock = Clock.of(pa.int64(), "s", made.spans)
    note(text_of(queries) + "\n" + "\n".join(map(str, events)) + f"\nseed={seed}")
    found: list[PartialRows] = []
    spread = [Spread(route, workload, clock) for route in routes(made.workload)]
    latest = -(2**62)
    for events_of_batch in cut(events, random):
        batch = record_batch(events_of_batch, made, clock)
        latest = max([latest, *batch.column(1).to_pylist()])
        for one in spread:
            found += one.take(batch, latest)
            if random.random() < 0.4:
                one.among(random.randint(1, GROUPS))
    found += [rows for one in spread for engine in one.engines for rows in engine.finish_partial()]
    rows = [row for some in Collector().collect(found) for row in shown(some, clock)]
    assert differences(answer(queries, events), rows, "exact") == []


@pytest.mark.parametrize("places", [1, 2, 3, 5, 8])
def test_ranges_are_cut_and_never_joined(places: int) -> None:
    before = Ranges.even(8, 3)
    after = before.among(places)
    assert set(before.starts) <= set(after.starts)
    assert after.places == places
    assert [number for place in range(places) for number in after.of(place)] == list(range(len(after)))
    assert after.bounds(len(after) - 1)[1] == 8


def test_key_groups_are_those_of_spark() -> None:
    """Numbers that Spark's documentation of `hash`, and Spark itself, give for these."""
    whole = key_groups([pa.array([1])], 1, 1 << 40)
    assert whole.tolist() == [(-1712319331) % (1 << 40)]
    assert key_groups([pa.array([True])], 1, 1 << 40).tolist() == [(-559580957) % (1 << 40)]
    assert key_groups([pa.array(["Spark"])], 1, 1 << 40).tolist() == [228093765]


def test_a_null_leaves_the_key_group_to_the_other_keys() -> None:
    """What waits for the watermark may have one; such an event is in no partition, but it has to be kept somewhere."""
    numbers, texts = pa.array([1, None, 3]), pa.array([None, "b", "c"]).dictionary_encode()
    whole = key_groups([numbers, texts], 3, 1 << 40).tolist()
    assert whole[0] == key_groups([pa.array([1])], 1, 1 << 40)[0]
    assert whole[1] == key_groups([pa.array(["b"])], 1, 1 << 40)[0]
    assert whole[2] == key_groups([pa.array([3]), pa.array(["c"])], 1, 1 << 40)[0]
