"""A small stream without Spark, driven as by `Live`, on played actors or on real ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from elsinore.actors.shells.blocks_in import buffer_of
from elsinore.actors.shells.collector import Collector
from elsinore.cluster.run.crew import Crew, NumberedBatch
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint, Era
from elsinore.cluster.stream.recovery import Recovery, hand_over
from elsinore.cluster.stream.snapshots import Snapshots
from elsinore.cluster.stream.terms import Terms
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.routes import Ranges, Route
from elsinore.planner.time.clock import Clock
from tests.cluster.played import heard, play

WORKLOAD = """
QUERY counted RETURN g, COUNT(*), SUM(A.v) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 10 seconds SLIDE 5 seconds;
QUERY found RETURN MATCHES A.v, B.v PATTERN SEQ(A, B) WHERE A.v + 2 < B.v GROUP-BY g WITHIN 10 seconds;
QUERY alone RETURN MATCHES A.v PATTERN SEQ(A, NOT B) WITHIN 3 seconds;
QUERY near RETURN MATCHES A.v PATTERN SEQ(A+, B) GROUP-BY g WITHIN 9 EVENTS
"""
GROUPS, PLACES, BATCHES, EVERY = 8, 2, 14, 3
CLOCK = Clock.of(pa.int64(), "s", plan(check_text(WORKLOAD)).spans)
TERMS = Terms("stream", WORKLOAD, "auto", "exact", CLOCK, Ranges.even(GROUPS, PLACES))


def events(number: int) -> bytes:
    """Return the block of a batch, with an A and a B in each of two key groups."""
    times = [4 * number + step for step in range(4)]
    kinds = pa.array([0, 0, 1, 1], pa.int16())
    values = {"kind": kinds, "ticks": times, "a_v": times, "a_g": ["p", "q", "p", "q"]}
    groups = {f"g_{at}": _groups(route) for at, route in enumerate(TERMS.routes)}
    return buffer_of(pa.table({**values, **groups})).to_pybytes()


def _groups(route: Route) -> pa.Array:
    return pa.array([0, 7, 0, 7] if route.keys else [route.home(GROUPS)] * 4, pa.int16())


def told(path: Path) -> tuple[dict[int, Counter[str]], int]:
    """Read the rows and the number of failures that `Stream.tell` wrote."""
    found = json.loads(path.read_text())
    return {int(number): Counter(rows) for number, rows in found["rows"].items()}, found["failures"]


@dataclass
class Stream:
    """A stream that starts or resumes from a checkpoint."""

    pool: Any
    folder: Path
    restarts: int = 10
    rows: dict[int, Counter[str]] = field(default_factory=dict)
    heard: Callable[[Any], Any] = heard

    def __post_init__(self) -> None:
        self.checkpoint = Checkpoint(str(self.folder))
        try:
            self.begin()
        except BaseException:
            self.checkpoint.close()
            raise

    def begin(self) -> None:
        latest = self.checkpoint.latest
        known = Recovery(self.checkpoint, self.hired, self.write).end_of(latest) if latest else None
        self.done = known.done if known else BatchRecord(counts={"rows": 0})
        self.era = self.checkpoint.next_era()
        self.era.begin(TERMS.document())
        self.crew = self.hired(TERMS, self.era)
        if known:
            hand_over(known, self.crew, TERMS)
        self.era.put_done(self.done)
        self.snapshots = Snapshots(self.checkpoint, self.era, PLACES)

    def hired(self, terms: Terms, era: Era | None = None) -> Crew:
        duty = terms.duty(era)
        return Crew(duty, terms.ranges, self.pool, self.pool.optimizer(duty.policy), self.restarts)

    def write(self, _terms: Terms, batch: int, crew: Crew) -> int:
        crew.repeat(batch)
        self.rows[batch] = sum(map(self.shown, crew.rows(batch)), Counter[str]())
        return len(self.rows[batch])

    def shown(self, parts: Sequence[Any]) -> Counter[str]:
        """Return rows as texts, given references to what actors have of them."""
        return Counter(
            f"{rows.query} {rows.window_start[i]} {[one[i] for one in (*rows.groups.values(), *rows.values.values())]}"
            for rows in Collector().collect(*map(self.heard, parts))
            for i in range(len(rows))
        )

    def given(self) -> BatchRecord:
        number = self.done.number + 1
        self.crew.send(NumberedBatch(number, 4 * number + 3, lambda _: [events(number)]))
        self.crew.receive()
        return BatchRecord(number, number, True, 4 * number + 3, 4 * number + 3, {"rows": 0})

    def step(self) -> bool:
        """Process a batch; return whether it ended with a snapshot that every place has saved."""
        done = self.given()
        self.era.put_whole(done)
        self.write(TERMS, done.number, self.crew)
        self.era.put_done(done)
        self.done = done
        whole = self.crew.commit(done.number)
        if whole:
            self.snapshots.add(done.number)
        return whole

    def until(self, batches: int) -> None:
        while self.done.number < batches:
            self.step()

    def stop(self) -> Stream:
        self.checkpoint.close()
        return self

    def again(self) -> Stream:
        """Stop, and return a stream that resumes from the same checkpoint, as another process would."""
        self.stop()
        return Stream(self.pool, self.folder, self.restarts, self.rows, self.heard)

    def tell(self, path: Path) -> None:
        """Write the rows, and the number of survived failures, for another process to read."""
        rows = {number: dict(found) for number, found in self.rows.items()}
        path.write_text(json.dumps({"rows": rows, "failures": len(self.crew.failures.failures)}))

    def states(self) -> list[str]:
        return sorted(f"{int(path.parent.name)}/{path.name}" for path in self.folder.glob("eras/*/states/*/*"))


def undisturbed(folder: Path) -> dict[int, Counter[str]]:
    """Return the rows by batch of a run without failures."""
    with pytest.MonkeyPatch.context() as patched:
        stream = Stream(play(patched), folder)
        stream.until(BATCHES)
    assert sum(rows.total() for rows in stream.rows.values()) > BATCHES
    return stream.stop().rows
