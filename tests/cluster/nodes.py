"""Ray clusters of several nodes on this machine, which tests take away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from elsinore.cluster.machines.java import prepare_java

ON_ONE_MACHINE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}

OPTIONS = {
    **ON_ONE_MACHINE,
    "spark.network.timeout": "20s",
    "spark.executor.heartbeatInterval": "4s",
    "spark.network.timeoutInterval": "5s",
}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Start two worker nodes, and a head node that runs nothing but RayDP's master."""
    prepare_java()
    cluster_of_nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 128 << 20})
    for _ in range(2):
        another(cluster_of_nodes)
    yield cluster_of_nodes
    shutdown: Any = cluster_of_nodes.shutdown
    shutdown()


def another(cluster: Cluster) -> Any:
    return cluster.add_node(num_cpus=4, object_store_memory=256 << 20)
