"""Losing nodes of a Ray cluster while a stream runs does not change the rows."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from tests.cluster.drivers import Driver, alone, stream, until_answered, until_done
from tests.cluster.live_rides import WORKLOAD
from tests.cluster.nodes import OPTIONS, another, cluster
from tests.cluster.small_stream import PLACES, told, undisturbed
from tests.cluster.streaming import Growing

__all__ = ["alone", "cluster"]

ON_NODES = """
import sys
from pathlib import Path
from time import sleep

import psutil
import ray
from ray.cluster_utils import Cluster

import elsinore.cluster.stream.checkpoint
import elsinore.cluster.run.crew
from elsinore.cluster.machines.pool import Pool, wait_for_reply
from tests.cluster.small_stream import BATCHES, EVERY, Stream

folder, found = map(Path, sys.argv[1:])
elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT = EVERY
size = {"object_store_memory": 80 << 20}
nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **size})
first = nodes.add_node(num_cpus=2, **size)
ray.init(nodes.address, log_to_driver=False)
stream = Stream(Pool(cpus=1), folder, restarts=20, heard=wait_for_reply)
put_whole = elsinore.cluster.stream.checkpoint.Era.put_whole

def lost(era, done):
    "Between the two records of a batch both actors are lost, with their node."
    put_whole(era, done)
    if done.number == EVERY + 1:
        actors = stream.crew.ask("pid")
        nodes.add_node(num_cpus=2, **size)
        nodes.remove_node(first, allow_graceful=False)
        # They may live a moment longer than their node.
        while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in actors):
            sleep(0.05)

elsinore.cluster.stream.checkpoint.Era.put_whole = lost
stream.until(BATCHES)
stream.tell(found)
ray.shutdown()
nodes.shutdown()
"""


def test_actors_that_go_with_their_node_are_not_missed(tmp_path: Path) -> None:
    """This test runs without Spark, which waits a minute for lost nodes."""
    with Driver("-c", ON_NODES, tmp_path / "checkpoint", tmp_path / "found") as driver:
        assert driver.end() == 0, driver.said()
    rows, failures = told(tmp_path / "found")
    assert rows == undisturbed(tmp_path / "undisturbed")
    assert failures >= PLACES


DEALERS = """
import ray
from ray.cluster_utils import Cluster

from elsinore.cluster.machines.pool import Pool
from elsinore.connectors.spark.ray_internals import node_of

nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
for _ in range(2):
    nodes.add_node(num_cpus=1)
ray.init(nodes.address, log_to_driver=False)
pool = Pool(cpus=1)
found = {}
for node in [one["NodeID"] for one in ray.nodes()] * 2:
    dealer = pool.dealer(node)
    ray.get(dealer.pid.remote())
    found[node] = node_of(dealer)
assert list(found) == list(found.values()), found
assert len(found) == 3
ray.shutdown()
nodes.shutdown()
"""


def test_a_dealer_is_on_the_node_of_its_blocks() -> None:
    with Driver("-c", DEALERS) as driver:
        assert driver.end() == 0, driver.said()


@pytest.mark.long
def test_every_node_but_the_head_is_lost(tmp_path: Path, growing: Growing, expected: Any, cluster: Cluster) -> None:
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    growing.more(2)
    first, second = sorted(cluster.worker_nodes, key=id)
    settings = {
        "ELSINORE_ADDRESS": cluster.address,
        "ELSINORE_SPARK_CORES": "1",
        "ELSINORE_SPARK_MEMORY": "512m",
        "ELSINORE_FILES_AT_ONCE": "1",
        "ELSINORE_RESTARTS": "50",
        "ELSINORE_SPARK_OPTIONS": json.dumps(OPTIONS),
    }
    with stream(tmp_path, **settings) as driver:
        until_done(tmp_path, driver, 1)
        for node in (first, second):
            growing.more(3)
            cluster.remove_node(node, allow_graceful=False)
            another(cluster)
            until_done(tmp_path, driver, growing.put)
        growing.end()
        until_answered(tmp_path, driver, expected)
        driver.process.send_signal(signal.SIGTERM)
        assert driver.end() == 0, driver.said()
