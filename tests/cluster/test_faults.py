"""Whoever dies while a stream runs: the rows are those of an undisturbed run, and none is written twice."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import ray
from ray._private import state
from ray.exceptions import RayError

import elsinore
from cluster.crew import Crew
from connectors.spark.handover import Blocks
from elsinore.api import prepare
from elsinore.result import Result
from elsinore.tables import answers, columns_of, form_of
from tests.cluster.streaming import Growing, answered, row_of
from tests.cluster.test_live import EVENTS, PIECES, begin, expected, growing, rides, taken, until
from tests.cluster.test_ray_run import WORKLOAD
from tests.cluster.unreliable import Unreliable

__all__ = ["expected", "growing", "rides"]

pytestmark = pytest.mark.usefixtures("running")


def pid_of(name: str) -> int:
    """Of an actor that lives, by its class, or how its name begins."""
    return pids_of(name)[0]


def pids_of(name: str) -> list[int]:
    alive = [one for one in state.actors().values() if one["State"] == "ALIVE"]
    return [int(one["Pid"]) for one in alive if name == one["ActorClassName"] or one["Name"].startswith(name)]


def kill(live: elsinore.LiveStream, name: str) -> None:
    """Who died a moment ago may not be back yet."""
    until(live, lambda: bool(pids_of(name)), 100)
    os.kill(pid_of(name), signal.SIGKILL)


VICTIMS = {
    "graph actor": "GraphActor",
    "collector": "Collector",
    "optimizer": "OptimizerActor",
    "executor": "raydp-executor",
    "master": "RAY_APP_MASTER",
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_process_that_is_killed_is_not_missed(tmp_path: Path, growing: Growing, expected: Any, victim: str) -> None:
    growing.more(2)
    with begin(tmp_path, files_at_once=1) as live:
        taken(live, EVENTS // PIECES)
        growing.end()
        os.kill(pid_of(VICTIMS[victim]), signal.SIGKILL)
        until(live, lambda: live.metrics.events >= EVENTS + 1, 100)
    assert answered(tmp_path / "rows.jsonl") == expected


def kill_master() -> None:
    os.kill(pid_of("RAY_APP_MASTER"), signal.SIGKILL)


def kill_executor_for_good() -> None:
    """As is one that dies while it comes back from the death before."""
    ray.kill(ray.get_actor("raydp-executor-0"), no_restart=True)


def test_an_executor_that_never_comes_back_is_not_missed(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    victims = [kill_executor_for_good]
    fetched = Blocks.reference

    def killed_before(blocks: Blocks, partition: int) -> Any:
        """What Spark has computed is lost before it is fetched."""
        if victims:
            victims.pop()()
        return fetched(blocks, partition)

    growing.more(2)
    with begin(tmp_path, files_at_once=1) as live:
        taken(live, EVENTS // PIECES)
        monkeypatch.setattr(Blocks, "reference", killed_before)
        growing.end()
        until(live, lambda: live.metrics.events >= EVENTS + 1, 30)
    assert not victims
    assert answered(tmp_path / "rows.jsonl") == expected


@pytest.mark.parametrize("kill_spark", [kill_master, kill_executor_for_good])
def test_a_run_with_an_end_goes_on_without_spark(
    tmp_path: Path, growing: Growing, expected: Any, kill_spark: Callable[[], None]
) -> None:
    growing.write("all", growing.events)
    path = tmp_path / "in" / "all.parquet"
    how: Any = {"engine": "ray", "strategy": "auto", "numeric": "exact", "lateness": 0}
    job = prepare(WORKLOAD, path, settings={"slice_events": 4_000}, **how)
    kill_spark()
    found = list(job)
    columns = columns_of(job.workload)
    rows, form = answers(found, columns, job.run.clock), form_of(job.run.clock)
    result = Result(rows, columns, form, False, job.run.metrics, pa.table({}))
    assert Counter(map(row_of, result.rows())) == expected


def test_calls_that_fail_are_made_again(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgiven: list[RayError] = []
    forgive = Crew._forgive

    def counted(crew: Crew, error: RayError) -> None:
        forgiven.append(error)
        forgive(crew, error)

    monkeypatch.setattr("cluster.crew.GraphActor", Unreliable)
    monkeypatch.setattr("cluster.crew.SAVE_EVERY", 2)
    monkeypatch.setattr(Crew, "_forgive", counted)
    for actors in (2, 3):
        growing.more(5)
        with begin(tmp_path, files_at_once=1, actors=actors, restarts=1000) as live:
            taken(live, growing.put * (EVENTS // PIECES))
    growing.end()
    with begin(tmp_path, restarts=1000) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected
    assert len(forgiven) > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_ten_random_kills(tmp_path: Path, growing: Growing, expected: Any, seed: int) -> None:
    random = Random(seed)
    growing.more()
    with begin(tmp_path, files_at_once=1, restarts=100) as live:
        taken(live, 1)
        for _ in range(10):
            growing.more()
            live.wait(random.random())
            kill(live, random.choice(list(VICTIMS.values())[:4]))
            until(live, lambda: live.metrics.events >= growing.put * (EVENTS // PIECES), 100)
        growing.end()
        until(live, lambda: live.metrics.events >= EVENTS + 1, 100)
    assert answered(tmp_path / "rows.jsonl") == expected
