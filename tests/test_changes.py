"""A storm of queries that come and go, and of plans that change: every query has the rows that it would have alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from elsinore.actors.engine import Engine
from elsinore.actors.streams.reorder import START
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.changing import changed
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.oracle import sharing
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import differences
from tests.oracle.query import Query, text_of
from tests.planner.gloria import plans
from tests.support.batches import COLUMNS, TYPE, shown
from tests.support.generated import ALL, FAST, LONG, Case, Tally, quick

Row = dict[str, Any]

STRATEGIES = st.sampled_from(("auto", "gloria", "cogra", "gloria", "prefix", "greta"))
CASES = st.one_of(sharing.cases(20, whole=True), plans.cases(20))
STRETCH = 2
"""Streams last so many times longer, so that windows begin and end while queries come and go."""


@dataclass
class Storm:
    """An engine whose queries come and go between any two batches, and what it then has to answer."""

    pool: dict[str, Query]
    random: Random
    strategy: str
    since: dict[str, int] = field(default_factory=dict)
    """By query that is there, the moment when it came."""
    ended: list[tuple[str, int, int]] = field(default_factory=list)
    """Queries that are gone, with the moment when they came, and the watermark when they went."""
    found: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        whole = plan(check_text(text_of(tuple(self.pool.values()))), "cogra")
        self.clock = Clock.of(pa.int64(), "s", whole.spans)
        self.since = {name: START for name in self.pool if self.random.random() < 0.6}
        self.engine = Engine(self._plan(self.strategy), self.clock)
        self.changes = 0

    def blow(self) -> None:
        """Some queries go, others come, the plan changes; or nothing happens."""
        if not self.random.randrange(3):
            return
        was_changing = self.engine.changing
        moment = self.engine.moment + self.random.choice((0, 0, 0, 7)) * (self.engine.moment > START)
        going = [name for name in self.since if self.random.random() < 0.2]
        coming = [name for name in self.pool if name not in self.since and self.random.random() < 0.4]
        self.ended += ((name, self.since.pop(name), self.engine.reorder.watermark) for name in going)
        self.since |= dict.fromkeys(coming, moment)
        self.engine.change(self._next(), moment)
        self.changes += was_changing

    def _next(self) -> Plan:
        if self.random.random() < 0.6:
            return changed(self.engine.plan, self._workload())
        return self._plan(self.strategy if self.random.random() < 0.7 else "cogra")

    def _plan(self, strategy: str) -> Plan:
        return plan(self._workload(), strategy)

    def _workload(self) -> Workload:
        text = text_of(tuple(self.pool[name] for name in self.since))
        return check_text(text) if self.since else Workload(())

    def feed(self, events: list[Row]) -> None:
        times = self.clock.read(pa.array([event["time"] for event in events], pa.int64()))
        columns = {name: pa.array([event[name] for event in events], COLUMNS[name]) for name in self.engine.columns}
        types = pa.array([event["type"] for event in events], pa.string()).cast(TYPE)
        batch = pa.RecordBatch.from_pydict({"type": types, "time": pa.array(times), **columns})
        self.found += (row for rows in self.engine.feed(batch) for row in shown(rows, self.clock))

    def restart(self) -> None:
        self.engine = Engine.restore(self.engine.plan, self.engine.save())

    def finish(self) -> None:
        self.found += (row for rows in self.engine.finish() for row in shown(rows, self.clock))

    def expected(self, rows: list[Row]) -> Iterator[Row]:
        """Of all rows that there could be, those of the windows that a query was there for."""
        times = [*self.ended, *((name, since, 2**63) for name, since in self.since.items())]
        for row in rows:
            start, end = (int(row[name] * self.clock.ticks_per_second) for name in ("window_start", "window_end"))
            # A window that moves has its end in it.
            end += self.pool[row["query"]].slide is None
            if any(name == row["query"] and start >= since and end <= until for name, since, until in times):
                yield row


def few(events: list[Row], random: Random) -> Iterator[list[Row]]:
    """Batches of a few events, none included, in any order inside of each."""
    left = events
    while left:
        size = random.randint(0, 4)
        batch, left = left[:size], left[size:]
        random.shuffle(batch)
        yield batch


def weather(case: Case, strategy: str, random: Random, saved: bool, tally: Tally) -> None:
    queries, events = case[0], [{**event, "time": event["time"] * STRETCH} for event in case[1]]
    assume(not any(map(ambiguous, queries)))
    batches = list(few(events, random))
    note(f"{text_of(queries)}\n" + "\n".join(map(str, batches)))
    storm = Storm({query.name: query for query in queries}, random, strategy)
    for batch in batches:
        storm.blow()
        storm.feed(batch)
        if saved:
            storm.restart()
    storm.finish()
    rows = list(storm.expected(answer(queries, events)))
    assert differences(rows, storm.found, "exact") == []
    tally.note("cases", True)
    tally.note("rows", bool(rows))
    tally.note("one change in the middle of another", storm.changes > 0)
    tally.note("gone", bool(storm.ended))


def stormy(how: settings) -> Tally:
    tally = Tally()

    @how
    @given(CASES, STRATEGIES, st.integers(0, 2**32), st.booleans())
    def every_storm(case: Case, strategy: str, seed: int, saved: bool) -> None:
        weather(case, strategy, Random(seed), saved, tally)

    every_storm()
    return tally


def test_rows_are_those_of_the_enumeration() -> None:
    tally = stormy(quick(50))
    if not FAST:
        assert tally.share("rows") > 0.2, tally.found
        assert tally.share("one change in the middle of another") > 0.2, tally.found


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
def test_rows_are_those_of_the_enumeration_at_length() -> None:
    stormy(settings(LONG, max_examples=2000))
