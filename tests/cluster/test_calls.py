"""Calls between processes of Ray are lost, or their answers are, or they are run twice: the rows are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.drivers import Driver
from tests.cluster.streaming import Growing, answered
from tests.cluster.test_live import expected, growing, rides
from tests.cluster.test_ray_run import WORKLOAD
from tests.cluster.test_the_driver import alone

__all__ = ["alone", "expected", "growing", "rides"]

pytestmark = pytest.mark.long

CALL = "CoreWorkerService.grpc_client.PushTask"
"""How a process asks an actor to do something."""

HOW = {
    "calls lost": {"req_failure_prob": 20, "resp_failure_prob": 0, "in_flight_failure_prob": 0},
    "answers lost": {"req_failure_prob": 0, "resp_failure_prob": 20, "in_flight_failure_prob": 0},
    "run twice": {"req_failure_prob": 0, "resp_failure_prob": 0, "in_flight_failure_prob": 20},
}
"""In how many of a hundred calls; whoever thinks that a call has failed makes it again."""


def run(tmp_path: Path, growing: Growing, how: dict[str, int], restarts: int) -> Driver:
    growing.write("all", growing.events)
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    failing = json.dumps({CALL: {"num_failures": 5, **how}})
    settings = {
        "RAY_testing_rpc_failure": failing,
        "ELSINORE_SLICE_EVENTS": "2000",
        "ELSINORE_RESTARTS": str(restarts),
    }
    command: list[str | Path] = ["-m", "elsinore", "run", tmp_path / "workload.elsinore"]
    command += ["--events", tmp_path / "in" / "all.parquet", "--out", tmp_path / "rows.jsonl"]
    return Driver(*command, **settings)


@pytest.mark.parametrize("how", HOW)
def test_calls_that_fail_are_not_missed(tmp_path: Path, growing: Growing, expected: Any, how: str) -> None:
    with run(tmp_path, growing, HOW[how], restarts=50) as driver:
        assert driver.end() == 0, driver.said()
    assert answered(tmp_path) == expected


def test_calls_do_fail(tmp_path: Path, growing: Growing) -> None:
    """Where nothing may fail, the same run is given up."""
    with run(tmp_path, growing, HOW["answers lost"], restarts=0) as driver:
        assert driver.end() == 1
        assert "once too often" in driver.said()
