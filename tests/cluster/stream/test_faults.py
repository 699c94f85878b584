"""The death of any process while a stream runs does not change the rows, and no row is written twice."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import ray
from ray.exceptions import ActorUnavailableError, RayError

import elsinore
from elsinore.actors.shells.graph_actor import GraphActor
from elsinore.api import prepare
from elsinore.cluster.machines.session import Session
from elsinore.cluster.run.crew import Crew, NumberedBatch, SupervisedActor
from elsinore.cluster.stream.checkpoint import BatchRecord, Era
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of
from elsinore.connectors.spark.handover import SparkBlocks
from elsinore.result import Result
from tests.cluster.drivers import Driver
from tests.cluster.live_rides import EVENTS, PIECES, WORKLOAD, begin, pid_of, pids_of, taken, until
from tests.cluster.small_stream import told, undisturbed
from tests.cluster.streaming import Growing, answered, row_of
from tests.cluster.unreliable import Unreliable

pytestmark = pytest.mark.usefixtures("running")


def kill(live: elsinore.LiveStream, name: str) -> None:
    """Kill an actor, after waiting for its restart if it died a moment ago."""
    until(live, lambda: bool(pids_of(name)), 100)
    os.kill(pid_of(name), signal.SIGKILL)


both_ways = pytest.mark.parametrize("hand_over", ["shared", pytest.param("dealt", marks=pytest.mark.long)])

VICTIMS = {
    "graph actor": "GraphActor",
    "collector": "Collector",
    "optimizer": "OptimizerActor",
    "executor": "raydp-executor",
    "master": "RAY_APP_MASTER",
}


@pytest.mark.parametrize(
    ("victim", "hand_over"),
    [
        *((one, "shared") for one in VICTIMS),
        *((one, "dealt") for one in ("graph actor", "dealer")),
        *(pytest.param(one, "dealt", marks=pytest.mark.long) for one in VICTIMS if one != "graph actor"),
    ],
)
def test_a_process_that_is_killed_is_not_missed(
    tmp_path: Path, growing: Growing, expected: Any, victim: str, hand_over: str
) -> None:
    growing.more(2)
    with begin(tmp_path, files_at_once=1, hand_over=hand_over) as live:
        taken(live, EVENTS // PIECES)
        growing.end()
        os.kill(pid_of({**VICTIMS, "dealer": "Dealer"}[victim]), signal.SIGKILL)
        until(live, lambda: live.metrics.events >= EVENTS + 1, 100)
    assert answered(tmp_path / "rows.jsonl") == expected


def kill_master() -> None:
    os.kill(pid_of("RAY_APP_MASTER"), signal.SIGKILL)


def kill_executor_for_good() -> None:
    """Kill an executor without a restart, like one that dies while it restarts."""
    ray.kill(ray.get_actor("raydp-executor-0"), no_restart=True)


@both_ways
def test_an_executor_that_never_comes_back_is_not_missed(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch, hand_over: str
) -> None:
    victims = [kill_executor_for_good]
    fetched = SparkBlocks.reference

    def killed_before(blocks: SparkBlocks, partition: int) -> Any:
        """Kill before the first fetch, so that Spark's result is lost."""
        if victims:
            victims.pop()()
        return fetched(blocks, partition)

    growing.more(2)
    with begin(tmp_path, files_at_once=1, hand_over=hand_over) as live:
        taken(live, EVENTS // PIECES)
        monkeypatch.setattr(SparkBlocks, "reference", killed_before)
        growing.end()
        until(live, lambda: live.metrics.events >= EVENTS + 1, 30)
    assert not victims
    assert answered(tmp_path / "rows.jsonl") == expected


@both_ways
@pytest.mark.parametrize("kill_spark", [kill_master, pytest.param(kill_executor_for_good, marks=pytest.mark.long)])
def test_a_run_with_an_end_goes_on_without_spark(
    tmp_path: Path, growing: Growing, expected: Any, kill_spark: Callable[[], None], hand_over: str
) -> None:
    growing.write("all", growing.events)
    path = tmp_path / "in" / "all.parquet"
    how: Any = {"engine": "ray", "strategy": "auto", "numeric": "exact", "lateness": 0}
    job = prepare(WORKLOAD, path, settings={"slice_events": 4_000, "hand_over": hand_over}, **how)
    kill_spark()
    found = list(job)
    columns = columns_of(job.workload)
    rows, form = answers(found, columns, job.run.clock), bounds_type(job.run.clock)
    result = Result(rows, columns, form, False, job.run.metrics, pa.table({}))
    assert Counter(map(row_of, result.rows())) == expected


@pytest.mark.long
@both_ways
def test_calls_that_fail_are_made_again(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch, hand_over: str
) -> None:
    forgiven: list[RayError] = []
    forgive = Crew._forgive

    def counted(crew: Crew, error: RayError) -> None:
        forgiven.append(error)
        forgive(crew, error)

    monkeypatch.setattr("elsinore.cluster.run.crew.GraphActor", Unreliable)
    monkeypatch.setattr("elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT", 2)
    monkeypatch.setattr(Crew, "_forgive", counted)
    for actors in (2, 3):
        growing.more(5)
        with begin(tmp_path, files_at_once=1, actors=actors, restarts=1000, hand_over=hand_over) as live:
            taken(live, growing.put * (EVENTS // PIECES))
    growing.end()
    with begin(tmp_path, restarts=1000, hand_over=hand_over) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected
    assert len(forgiven) > 10


CALL = "CoreWorkerService.grpc_client.PushTask"
"""How a process asks an actor to do something."""

IN_TURN = {"num_failures": 8, "req_failure_prob": 15, "resp_failure_prob": 15, "in_flight_failure_prob": 15}
"""Percentages of lost calls, of lost replies and of calls that run twice; eight failures in all."""

ON_REAL_ACTORS = """
import sys
from pathlib import Path

import ray

import elsinore.cluster.run.crew
from elsinore.cluster.machines.pool import Pool, wait_for_reply
from tests.cluster.small_stream import BATCHES, EVERY, Stream

address, folder, found = sys.argv[1:]
elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT = EVERY
ray.init(address, log_to_driver=False)
stream = Stream(Pool(cpus=0), Path(folder), restarts=50, heard=wait_for_reply)
stream.until(BATCHES)
stream.tell(Path(found))
"""


def test_calls_that_ray_loses_or_runs_twice_are_not_missed(tmp_path: Path, running: Session) -> None:
    """A second process without Spark uses the same Ray, and only its calls fail."""
    address = ray.get_runtime_context().gcs_address
    command = ["-c", ON_REAL_ACTORS, address, tmp_path / "checkpoint", tmp_path / "found"]
    with Driver(*command, RAY_testing_rpc_failure=json.dumps({CALL: IN_TURN})) as driver:
        assert driver.end() == 0, driver.said()
    rows, failures = told(tmp_path / "found")
    assert rows == undisturbed(tmp_path / "undisturbed")
    assert failures > 0


class MortalInSave(GraphActor):
    """A graph actor; the first to save after batch 4 dies when its state is on disk, before it replies."""

    def save(self, number: int) -> bytes:
        state = super().save(number)
        keeper: Any = self.duty.keeper
        if number == 4 and keeper is not None:
            with suppress(FileExistsError):
                (Path(keeper.vault.root) / "killed").mkdir()
                os.kill(os.getpid(), signal.SIGKILL)
        return state


@both_ways
def test_kills_at_the_worst_moments_are_not_missed(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch, hand_over: str
) -> None:
    """Kills happen before a batch is sent, during a replacement, in a save, and between a batch's two records."""
    send, replace_, put_whole = Crew.send, Crew._replace, Era.put_whole
    killed: list[str] = []

    def kill_once(moment: str, crew: Crew, place: int) -> None:
        if moment not in killed:
            killed.append(moment)
            os.kill(ray.get(crew.places[place].actor.pid.remote()), signal.SIGKILL)

    def sent(crew: Crew, batch: NumberedBatch) -> None:
        if batch.number == 2:
            kill_once("before take", crew, 0)
        send(crew, batch)

    def replaced(crew: Crew, number: int, place: SupervisedActor) -> None:
        replace_(crew, number, place)
        kill_once("while another is replaced", crew, 1 - number)

    def whole(era: Era, done: BatchRecord) -> None:
        put_whole(era, done)
        if done.number == 6:
            kill_once("between whole and done", live._live.crew, 1)
            os.kill(pid_of("Collector"), signal.SIGKILL)

    monkeypatch.setattr("elsinore.cluster.run.crew.GraphActor", MortalInSave)
    monkeypatch.setattr("elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT", 2)
    monkeypatch.setattr(Crew, "send", sent)
    monkeypatch.setattr(Crew, "_replace", replaced)
    monkeypatch.setattr(Era, "put_whole", whole)
    growing.end()
    with begin(tmp_path, files_at_once=1, hand_over=hand_over) as live:
        until(live, lambda: live.metrics.events >= EVENTS + 1, 100)
    assert killed == ["before take", "while another is replaced", "between whole and done"]
    assert (tmp_path / "checkpoint" / "killed").exists()
    assert answered(tmp_path / "rows.jsonl") == expected


def test_a_stream_whose_saves_were_lost_begins_again(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elsinore.cluster.run.crew.GraphActor", Forgetful)
    monkeypatch.setattr("elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT", 2)
    growing.more(8)
    with begin(tmp_path, files_at_once=1) as live:
        until(live, lambda: live.metrics.batches == 8)
    monkeypatch.undo()
    growing.end()
    with begin(tmp_path) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected


class Forgetful(GraphActor):
    """A graph actor that fails to save: the snapshots after batches 4, 6 and 8 each lack the state of one place."""

    def save(self, number: int) -> bytes:
        if number >= 4 and number % 4 // 2 == self.place:
            raise ActorUnavailableError("so it seems to the caller", None)
        return super().save(number)


MOMENTS = ("events/*/0", "events/*/whole", "done/*")
"""Files of an era that are created in the course of a batch."""


@pytest.mark.long
@both_ways
@pytest.mark.parametrize("seed", range(3))
def test_ten_random_kills(tmp_path: Path, growing: Growing, expected: Any, seed: int, hand_over: str) -> None:
    random = Random(seed)

    def there(moment: str) -> set[Path]:
        return set((tmp_path / "checkpoint" / "eras").glob(f"*/{moment}"))

    growing.more()
    with begin(tmp_path, files_at_once=1, restarts=100, hand_over=hand_over) as live:
        taken(live, 1)
        for _ in range(10):
            moment = random.choice(MOMENTS)
            before = there(moment)
            growing.more()
            until(live, lambda before=before, moment=moment: there(moment) > before, 100)  # type: ignore[misc]
            kill(live, random.choice(list(VICTIMS.values())[:4]))
            until(live, lambda: live.metrics.events >= growing.put * (EVENTS // PIECES), 100)
        growing.end()
        until(live, lambda: live.metrics.events >= EVENTS + 1, 100)
    assert answered(tmp_path / "rows.jsonl") == expected
