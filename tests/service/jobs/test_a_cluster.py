"""The service on a Ray cluster that loses nodes while a client sends."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest
from ray.cluster_utils import Cluster

from tests.cluster.nodes import OPTIONS, another, cluster
from tests.service.rides import sending, until_taken
from tests.service.serving import Served

__all__ = ["cluster"]

pytestmark = pytest.mark.long


def test_every_node_but_the_head_is_lost(
    stopped: Served, client: httpx2.Client, tmp_path: Path, cluster: Cluster
) -> None:
    settings = {
        "ELSINORE_ADDRESS": cluster.address,
        "ELSINORE_SPARK_CORES": "1",
        "ELSINORE_SPARK_MEMORY": "512m",
        "ELSINORE_RESTARTS": "50",
        "ELSINORE_SPARK_OPTIONS": json.dumps(OPTIONS),
    }
    stopped.start(**settings)
    with sending(stopped, tmp_path, pieces=150, pause=1) as sender:
        for node in sorted(cluster.worker_nodes, key=id):
            cluster.remove_node(node, allow_graceful=False)
            another(cluster)
            until_taken(client, sender.job, sender.acknowledged)
    stopped.stop()
