"""Lost calls, lost replies and repeated calls between processes of Ray do not change the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from elsinore.cluster.machines.java import prepare_java
from tests.cluster.drivers import SECONDS, Driver, alone
from tests.cluster.live_rides import WORKLOAD
from tests.cluster.nodes import ON_ONE_MACHINE
from tests.cluster.streaming import Growing, answered

__all__ = ["alone"]

pytestmark = pytest.mark.long

CALL = "CoreWorkerService.grpc_client.PushTask"
"""The RPC by which a process calls an actor."""

HOW = {
    "calls lost": {"req_failure_prob": 20, "resp_failure_prob": 0, "in_flight_failure_prob": 0},
    "answers lost": {"req_failure_prob": 0, "resp_failure_prob": 20, "in_flight_failure_prob": 0},
    "run twice": {"req_failure_prob": 0, "resp_failure_prob": 0, "in_flight_failure_prob": 20},
}
"""Percentages of calls that fail in each way; the caller repeats a call that seems to have failed."""


ELSEWHERE = "127.0.0.2"
"""Address of the node to which calls fail; RayDP's calls at the start of Spark go to the head node."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    prepare_java()
    head = {"num_cpus": 0, "object_store_memory": 128 << 20}
    two_nodes = Cluster(initialize_head=True, head_node_args=head)
    two_nodes.add_node(num_cpus=4, object_store_memory=256 << 20, node_ip_address=ELSEWHERE)
    yield two_nodes
    shutdown: Any = two_nodes.shutdown
    shutdown()


COMMAND = """
import os, ray
from elsinore.cli import main

ray.init(os.environ["ELSINORE_ADDRESS"], log_to_driver=False)
# It is for the calls of this process to its actors: those of Spark's, which starts now, do not fail.
del os.environ["RAY_testing_rpc_failure"]
main()
"""


def run(tmp_path: Path, growing: Growing, cluster: Cluster, how: dict[str, int], restarts: int) -> Driver:
    growing.write("all", growing.events)
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    settings = {
        "RAY_testing_rpc_failure": json.dumps({CALL: {"num_failures": 20, **how}}),
        "RAY_testing_rpc_failure_avoid_intra_node_failures": "1",
        "ELSINORE_ADDRESS": cluster.address,
        "ELSINORE_SPARK_CORES": "1",
        "ELSINORE_SPARK_MEMORY": "512m",
        "ELSINORE_SPARK_OPTIONS": json.dumps(ON_ONE_MACHINE),
        "ELSINORE_SLICE_EVENTS": "2000",
        "ELSINORE_RESTARTS": str(restarts),
    }
    command: list[str | Path] = ["run", tmp_path / "workload.elsinore", "--events", tmp_path / "in" / "all.parquet"]
    return Driver("-c", COMMAND, *command, "--out", tmp_path / "rows.jsonl", **settings)


@pytest.mark.parametrize("how", HOW)
def test_calls_that_fail_are_not_missed(
    tmp_path: Path, growing: Growing, expected: Any, cluster: Cluster, how: str
) -> None:
    with run(tmp_path, growing, cluster, HOW[how], restarts=50) as driver:
        # Ray takes long to detect that a call was lost.
        assert driver.end(5 * SECONDS) == 0, driver.said()
    assert answered(tmp_path) == expected


def test_calls_do_fail(tmp_path: Path, growing: Growing, cluster: Cluster) -> None:
    """Without restarts, the same run fails."""
    with run(tmp_path, growing, cluster, HOW["answers lost"], restarts=0) as driver:
        assert driver.end() == 1
        assert "too many failures" in driver.said()
