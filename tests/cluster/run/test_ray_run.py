"""A run on Spark and Ray gives the rows of a local run, however the stream is split, and whatever dies."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray

import elsinore
from elsinore.actors.shells.optimizer_actor import OptimizerActor
from elsinore.actors.shells.remote_optimizer import PATIENCE_SECONDS
from elsinore.api import prepare
from elsinore.cluster.machines.session import Session
from elsinore.cluster.run.crew import Crew
from elsinore.cluster.run.ray_run import RayRun
from elsinore.connectors.ridesharing import TYPES, write
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of
from elsinore.result import Result
from tests import frozen
from tests.cluster.live_rides import COUNTED, WORKLOAD
from tests.cluster.streaming import answers_alone, row_of
from tests.oracle.compare import differences
from tests.vectors import CASES, name

pytestmark = pytest.mark.usefixtures("running")

both_ways = pytest.mark.parametrize("hand_over", ["shared", "dealt"])

FEW = [case for case in CASES if name(case).startswith("hamlet")] + CASES[-4:]


@pytest.fixture(scope="module")
def rides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rides") / "rides.parquet"
    write(path, 60_000, seed=5)
    return path


@both_ways
@pytest.mark.parametrize("case", FEW, ids=name)
def test_rows_are_those_of_the_vectors(case: dict[str, Any], hand_over: str) -> None:
    of_vectors(case, hand_over)


@pytest.mark.long
@both_ways
@pytest.mark.parametrize("case", CASES, ids=name)
def test_rows_are_those_of_all_vectors(case: dict[str, Any], hand_over: str) -> None:
    of_vectors(case, hand_over)


def of_vectors(case: dict[str, Any], hand_over: str) -> None:
    """Check that the rows are those of the vectors, in the order of a local run."""
    rows = elsinore.run(case["workload"], case["events"], engine="ray", hand_over=hand_over).rows()
    assert differences(case["expected"], rows, "exact") == []
    assert f"{len(rows)}:{frozen.digest(rows, 'exact')}" == frozen.frozen()[name(case), "exact", "auto"]


@pytest.mark.long
@pytest.mark.parametrize(("actors", "spark_cores"), [(1, 2), (2, 1), (5, 3)])
def test_fifty_queries_over_two_million_events(tmp_path: Path, actors: int, spark_cores: int) -> None:
    path = tmp_path / "rides.parquet"
    write(path, 2_000_000, seed=11)
    how = "WHERE [rider] GROUP-BY district WITHIN 10 minutes SLIDE 5 minutes"
    others = [one for one in TYPES if one != "Travel"]
    patterns = [f"SEQ({one}, Travel T+)" for one in others] + [f"SEQ(Travel T+, {one})" for one in others]
    patterns += [f"SEQ({one}, Travel T+, {other})" for one, other in zip(others, others[5:], strict=False)][:12]
    workload = "\n".join(
        f"QUERY q{n} RETURN district, COUNT(*), SUM(T.duration) PATTERN {one} {how}" for n, one in enumerate(patterns)
    )
    alone = elsinore.run(workload, path, engine="local")
    spread = elsinore.run(workload, path, engine="ray", actors=actors, spark_cores=spark_cores)
    assert len(alone.queries) == 50
    assert spread.to_arrow().equals(alone.to_arrow())


@pytest.mark.parametrize(
    ("actors", "slice_events", "hand_over"),
    [(1, 10**9, "dealt"), (2, 20_000, "shared"), (2, 20_000, "dealt"), (5, 7_000, "shared"), (5, 7_000, "dealt")],
)
def test_rows_are_those_of_one_process(rides: Path, actors: int, slice_events: int, hand_over: str) -> None:
    alone = elsinore.run(COUNTED, rides, engine="local")
    how: Any = {"actors": actors, "slice_events": slice_events, "hand_over": hand_over}
    spread = elsinore.run(COUNTED, rides, engine="ray", **how)
    assert spread.metrics.hand_over == ("shared" if actors == 1 else hand_over)
    assert spread.to_arrow().equals(alone.to_arrow())
    assert spread.metrics.events == alone.metrics.events == 60_000
    assert spread.metrics.dropped == alone.metrics.dropped


MATCHES = """
QUERY given_up RETURN MATCHES PATTERN SEQ(Request R, Travel T, Cancel C) WHERE [rider] AND T.speed < 9
WITHIN 5 minutes;
QUERY first RETURN MATCHES R.driver, COUNT(T), T.speed
PATTERN SEQ(Request R, Travel T{1,2}, Cancel C) WHERE [rider] GROUP-BY district WITHIN 20000 events LIMIT 2;
QUERY counted RETURN district, COUNT(*)
PATTERN SEQ(Request R, Travel T+, Cancel C) WHERE [rider] GROUP-BY district WITHIN 20000 events SLIDE 4000 events;
QUERY timed RETURN district, COUNT(*)
PATTERN SEQ(Request R, Travel T+) GROUP-BY district WITHIN 2 minutes SLIDE 1 minute;
QUERY any_pair RETURN MATCHES R.rider, C.rider
PATTERN SEQ(Request R, Cancel C) WHERE R.price > C.price WITHIN 400 events;
QUERY ends RETURN MATCHES R.rider, C.rider
PATTERN SEQ(NOT NoShow, Request R, Cancel C, NOT NoShow) WHERE R.district = C.district WITHIN 5 minutes;
QUERY one_each RETURN MATCHES R.rider, P.rider PATTERN AND(Complain R, Cancel P) WITHIN 10 seconds LIMIT 1;
QUERY by_kind RETURN MATCHES R.rider, C.rider
PATTERN SEQ(Request R, Cancel C, NOT Complain) WHERE [kind] AND R.price > C.price WITHIN 20 seconds LIMIT 2
"""


@both_ways
@pytest.mark.parametrize(("actors", "slice_events"), [(2, 10**9), (3, 9_000)])
def test_matches_and_windows_of_events_are_those_of_one_process(
    rides: Path, actors: int, slice_events: int, hand_over: str
) -> None:
    alone = elsinore.run(MATCHES, rides, engine="local")
    how: Any = {"actors": actors, "slice_events": slice_events, "hand_over": hand_over}
    spread = elsinore.run(MATCHES, rides, engine="ray", **how)
    assert all(len(alone.query(name)) for name in alone.queries)
    assert spread.rows() == alone.rows()


TIED = """
QUERY pairs RETURN MATCHES R.rider, T.rider, T.speed PATTERN SEQ(Request R, Travel T) WHERE [district] WITHIN 3 minutes;
QUERY lists RETURN MATCHES PATTERN SEQ(Request R, Travel T{1,2}, Cancel C) WHERE [district, driver] WITHIN 8 minutes;
QUERY either RETURN MATCHES R.rider, C.rider PATTERN OR(Request R, AND(Cancel C, Pickup P)) WHERE [driver]
WITHIN 1 minute
"""


@pytest.mark.parametrize(
    ("actors", "hand_over", "files", "slice_events"),
    [(1, "shared", 1, 50_000), (2, "shared", 1, 50_000), (3, "dealt", 1, 4_000), (2, "dealt", 5, 50_000)],
)
def test_matches_of_one_time_are_in_the_order_of_events(
    tmp_path: Path, rides: Path, actors: int, hand_over: str, files: int, slice_events: int
) -> None:
    """Partitions of different actors have matches that begin and end together: events tell their order."""
    events = pq.read_table(rides).slice(0, 20_000)
    times = pa.array(events.column("time").to_numpy() // 30 * 30)
    events = events.set_column(events.column_names.index("time"), "time", times)
    # Files of unlike sizes: Spark reads the largest first.
    cuts = [len(events) * number**2 // files**2 for number in range(files + 1)]
    paths = [tmp_path / f"{number} of {files}, é %.parquet" for number in range(files)]
    for path, lo, hi in zip(paths, cuts, cuts[1:], strict=False):
        pq.write_table(events.slice(lo, hi - lo), path, row_group_size=1_000)
    alone = elsinore.run(TIED, paths, engine="local")
    how: Any = {"actors": actors, "slice_events": slice_events, "hand_over": hand_over}
    assert all(len(alone.query(name)) > 100 for name in alone.queries)
    # Spark reads the files themselves, or, of a table, files that are written for it.
    for source in (paths, events):
        spread = elsinore.run(TIED, source, engine="ray", **how)
        assert spread.rows() == alone.rows()


@pytest.mark.parametrize("ordered", [True, False])
def test_a_long_stream_is_cut_in_slices(tmp_path: Path, rides: Path, ordered: bool) -> None:
    """The slices group Spark's partitions if these are in order of time; otherwise they are cut by time."""
    events = pq.read_table(rides)
    if not ordered:
        events = events.take(np.random.default_rng(1).permutation(len(events)))
    pq.write_table(events, tmp_path / "events.parquet", row_group_size=2_000)
    job = prepare(
        COUNTED,
        tmp_path / "events.parquet",
        engine="ray",
        strategy="auto",
        numeric="exact",
        lateness=0,
        settings={"slice_events": 9_000},
    )
    columns = columns_of(job.workload)
    form = bounds_type(job.run.clock)
    found = Result(answers(job, columns, job.run.clock), columns, form, False, job.run.metrics, pa.table({}))
    assert isinstance(job.run, RayRun)
    assert (job.run.cuts is None) is ordered
    assert job.run.batches is not None
    assert job.run.batches > 5
    assert Counter(map(row_of, found.rows())) == answers_alone(COUNTED, rides)


def test_events_with_nulls_are_counted(running: Session) -> None:
    events = pa.table(
        {
            "type": ["A", "", "A", None, "B", "A", "X"],
            "time": [1, 2, 3, 4, None, 5, 6],
            "k": ["x", "x", None, "x", "x", "x", "x"],
        }
    )
    workload = "RETURN k, COUNT(*) PATTERN A+ GROUP-BY k WITHIN 10 seconds SLIDE 10 seconds"
    for engine in ("local", "ray"):
        metrics = elsinore.run(workload, events, engine=engine).metrics
        assert (metrics.events, metrics.dead, metrics.dropped, metrics.rows) == (4, 3, 1, 1), engine


@both_ways
def test_an_actor_that_is_killed_is_not_missed(
    rides: Path, monkeypatch: pytest.MonkeyPatch, running: Session, hand_over: str
) -> None:
    killed: list[int] = []
    receive = Crew.receive

    def kill_twice(crew: Crew) -> Any:
        actor = crew.places[0].actor
        if len(killed) < 2 and crew.waiting[0] >= 2 and actor not in dead:
            dead.append(actor)
            killed.append(ray.get(actor.pid.remote()))
            os.kill(killed[-1], signal.SIGKILL)
            for dealer in running.pool.dealers.values():
                os.kill(ray.get(dealer.pid.remote()), signal.SIGKILL)
        return receive(crew)

    dead: list[Any] = []
    monkeypatch.setattr(Crew, "receive", kill_twice)
    monkeypatch.setattr("elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT", 3)
    alone = elsinore.run(WORKLOAD, rides, engine="local")
    spread = elsinore.run(WORKLOAD, rides, engine="ray", slice_events=7_000, hand_over=hand_over)
    assert len(killed) == 2
    assert spread.metrics.hand_over == hand_over
    assert Counter(map(row_of, spread.rows())) == Counter(map(row_of, alone.rows()))


def test_ctrl_c_is_answered_as_without_spark(running: Session) -> None:
    assert running.spark
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_wrong_with_values_is_said_as_in_one_process() -> None:
    events = [{"type": "A", "time": 1, "v": "text"}]
    with pytest.raises(elsinore.WorkloadError, match="text") as found:
        elsinore.run("RETURN COUNT(*) PATTERN A+ WHERE A.v < 3 WITHIN 1 minute SLIDE 1 minute", events, engine="ray")
    with pytest.raises(elsinore.WorkloadError) as alone:
        elsinore.run("RETURN COUNT(*) PATTERN A+ WHERE A.v < 3 WITHIN 1 minute SLIDE 1 minute", events, engine="local")
    assert str(found.value) == str(alone.value)


def test_the_optimizer_actor_is_asked_and_not_missed(rides: Path, running: Session) -> None:
    alone = elsinore.run(COUNTED, rides, engine="local")
    asked = elsinore.run(COUNTED, rides, engine="ray", strategy="hamlet", slice_events=7_000)
    assert asked.metrics.questions > 0
    assert asked.metrics.missed < asked.metrics.questions
    assert asked.to_arrow().equals(alone.to_arrow())
    (optimizer,) = running.pool.optimizers.values()
    ray.kill(optimizer, no_restart=True)
    without = elsinore.run(COUNTED, rides, engine="ray", strategy="hamlet", slice_events=7_000)
    assert without.metrics.missed == without.metrics.questions > 0
    assert without.to_arrow().equals(alone.to_arrow())
    running.pool.optimizers.clear()


class Hesitant(OptimizerActor):
    """An optimizer that replies too late."""

    def decide(self, asked: bytes) -> bytes:
        sleep(2 * PATIENCE_SECONDS)
        return super().decide(asked)


def test_nobody_waits_for_a_slow_optimizer(rides: Path, running: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    running.pool.optimizers.clear()
    monkeypatch.setattr("elsinore.cluster.machines.pool.OptimizerActor", Hesitant)
    alone = elsinore.run(COUNTED, rides, engine="local")
    slow = elsinore.run(COUNTED, rides, engine="ray", strategy="hamlet", slice_events=7_000)
    assert slow.metrics.missed > 0
    assert slow.to_arrow().equals(alone.to_arrow())
    running.pool.optimizers.clear()


def test_decisions_are_recorded(rides: Path) -> None:
    alone = elsinore.run(COUNTED, rides, engine="local", decisions=True)
    spread = elsinore.run(COUNTED, rides, engine="ray", decisions=True, actors=1)
    kept = ["kleene", "time", "events", "choice"]
    assert sorted(map(str, spread.decisions.select(kept).to_pylist())) == sorted(
        map(str, alone.decisions.select(kept).to_pylist())
    )


ALIKE = """
QUERY one RETURN MATCHES R.rider PATTERN SEQ(Request R, Cancel C, Pickup P)
WHERE R.price > C.price AND R.district = C.district WITHIN 300 events;
QUERY two RETURN MATCHES R.rider PATTERN SEQ(Request R, Cancel C, NoShow N)
WHERE R.price > C.price AND R.district = C.district WITHIN 300 events
"""


def test_graph_actors_use_one_search_for_the_plan_of_many_patterns(running: Session, rides: Path) -> None:
    def searches() -> int:
        told = [ray.get(actor.statistics.remote()) for actor in running.pool.optimizers.values()]
        return sum(one["searches"] for one in told)

    alone, before = elsinore.run(ALIKE, rides, engine="local"), searches()
    spread = elsinore.run(ALIKE, rides, engine="ray", actors=3)
    assert searches() == before + 1
    assert spread.metrics.questions >= 3
    assert [len(spread.query(name)) for name in spread.queries] == [len(alone.query(name)) for name in alone.queries]
    assert Counter(map(repr, spread.rows())) == Counter(map(repr, alone.rows()))
