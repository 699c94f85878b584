"""A live stream that drifts changes its plan by itself, without changing the rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import ray

import elsinore
from elsinore.cli.checkpoint_table import status_table
from elsinore.cluster.stream.checkpoint import latest_of
from elsinore.cluster.stream.terms import Terms
from tests.cluster.live_rides import begin, taken
from tests.cluster.streaming import Growing, answered, answers_alone

pytestmark = pytest.mark.usefixtures("running")

PIECES = 20

WINDOW = "WITHIN 10 seconds SLIDE 5 seconds"
PATTERNS = ["SEQ(A, B, C)", "SEQ(A, B, C)", "SEQ(A, B, C)", "SEQ(X, B+)", "SEQ(A, B+)"]
SPLIT = "; ".join(
    f"QUERY q{number} RETURN k, COUNT(*), SUM(B.v) PATTERN {pattern} GROUP-BY k {WINDOW}"
    for number, pattern in enumerate(PATTERNS)
)
FEW = {"A": 5, "B": 40, "C": 3, "X": 5}
MANY = {"A": 5, "B": 1, "C": 40, "X": 5}
"""Events per ten seconds, like those in FEW. Sharing pays off where C is rare."""


@pytest.fixture(scope="module")
def events() -> pa.Table:
    """Return events at the rates of FEW, then at those of MANY."""
    random = Random(11)
    seconds = range(0, 400, 10)
    found = [
        (kind, ten + random.randrange(10))
        for ten in seconds
        for kind, count in (FEW if ten < 200 else MANY).items()
        for _ in range(count)
    ]
    found.sort(key=lambda event: event[1])
    return pa.table(
        {
            "type": [kind for kind, _ in found],
            "time": [time for _, time in found],
            "k": [random.randrange(8) for _ in found],
            "v": [random.randrange(100) for _ in found],
        }
    )


WHOLE = "; ".join(
    f"QUERY {first}{last} RETURN COUNT(*) PATTERN SEQ({first}, T+, {last}) {WINDOW}"
    for first in "ABEG"
    for last in "CDFH"
)


@pytest.fixture(scope="module")
def bursts() -> pa.Table:
    """Return events with long bursts of T, then with short ones."""
    long = [
        (kind, 10 * ten + step)
        for ten in range(20)
        for step in range(10)
        for kind in ("ABCDEFGH"[(ten + step) % 8] if step < 2 else "T" * 25)
    ]
    short = [(kind, 10 * ten + step) for ten in range(20, 40) for step in range(10) for kind in "TATBTCTDTETFTGTH" * 2]
    kinds, times = zip(*long, *short, strict=True)
    return pa.table({"type": kinds, "time": times})


@pytest.fixture
def growing(tmp_path: Path, events: pa.Table) -> Growing:
    return Growing(tmp_path / "in", events, PIECES)


def fed(live: elsinore.LiveStream, growing: Growing, pieces: int) -> None:
    """Write pieces one by one, each after the stream has processed the one before."""
    for _ in range(pieces):
        growing.more()
        taken(live, min(growing.put * -(-growing.events.num_rows // PIECES), growing.events.num_rows))
        live.wait(0.3)


def terms(tmp_path: Path) -> Terms:
    era = latest_of(str(tmp_path / "checkpoint"))
    assert era is not None
    return Terms.read(era.duty())


def told(tmp_path: Path) -> dict[str, str]:
    table = status_table(str(tmp_path / "checkpoint"))
    names, values = (list(column.cells) for column in table.columns)
    return dict(zip(map(str, names), map(str, values), strict=True))


def rows(tmp_path: Path) -> Counter[Any]:
    return answered(tmp_path / "rows.jsonl")


def test_a_stream_that_drifts_is_planned_anew(tmp_path: Path, growing: Growing, events: pa.Table) -> None:
    how = {"strategy": "gloria", "replan": 0.2, "actors": 2}
    growing.more()
    with begin(tmp_path, SPLIT, **how) as live:
        fed(live, growing, PIECES - 1)
        growing.end()
        taken(live, events.num_rows + 1)
    assert live.metrics.replanned >= 1
    assert told(tmp_path)["replanned"] == str(live.metrics.replanned)
    (seen,) = terms(tmp_path).statistics.values()
    assert seen.counts["C"] > seen.counts["B"]
    assert rows(tmp_path) == answers_alone(SPLIT, events)


def taking_turns(events: pa.Table) -> pa.Table:
    """Return the events in two partitions, the same in each."""
    times = events["time"].to_numpy().repeat(2)
    kinds = [kind for one in events["type"].to_pylist() for kind in (one, one)]
    return pa.table({"type": kinds, "time": times, "k": [0, 1] * len(events)})


@pytest.mark.parametrize("split", [pytest.param(False, marks=pytest.mark.long), True])
def test_auto_takes_another_plan_when_it_has_seen_bursts(tmp_path: Path, bursts: pa.Table, split: bool) -> None:
    workload = WHOLE.replace("WITHIN", "WHERE [k] WITHIN") if split else WHOLE
    events = taking_turns(bursts) if split else bursts
    growing = Growing(tmp_path / "in", events, PIECES)
    growing.more()
    with begin(tmp_path, workload, replan=0.2) as live:
        fed(live, growing, PIECES - 1)
        growing.end()
        taken(live, events.num_rows + 1)
    assert live.metrics.replanned >= 1
    (seen,) = terms(tmp_path).statistics.values()
    assert seen.length("T") > 10
    assert (seen.cells > 0) == split
    assert rows(tmp_path) == answers_alone(workload, events)


def test_it_goes_on_with_what_it_knows_and_without_the_optimizer_actor(
    tmp_path: Path, growing: Growing, events: pa.Table
) -> None:
    how = {"strategy": "gloria", "replan": 0.2, "actors": 2}
    growing.more()
    with begin(tmp_path, SPLIT, **how) as live:
        ray.kill(live._live.crew.optimizer, no_restart=False)
        fed(live, growing, PIECES - 4)
    replanned, known = live.metrics.replanned, terms(tmp_path)
    assert replanned >= 1
    with begin(tmp_path, SPLIT, **{**how, "actors": 3}) as live:
        assert terms(tmp_path).statistics == known.statistics
        assert live.metrics.replanned == replanned
        growing.end()
        taken(live, events.num_rows + 1)
    assert rows(tmp_path) == answers_alone(SPLIT, events)


@pytest.mark.parametrize("how", [{"strategy": "cogra", "replan": 0.05}, {"strategy": "gloria", "replan": 0}])
def test_nobody_looks_where_nothing_is_to_be_chosen(
    tmp_path: Path, growing: Growing, events: pa.Table, how: dict[str, Any]
) -> None:
    growing.more()
    with begin(tmp_path, SPLIT, **how) as live:
        fed(live, growing, 3)
        growing.end()
        taken(live, events.num_rows + 1)
    assert live.metrics.replanned == 0
    assert live._live.crew.duty.observed_as == ""
    assert rows(tmp_path) == answers_alone(SPLIT, events)
