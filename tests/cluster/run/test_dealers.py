"""Each node of a cluster has a dealer of its own."""

from __future__ import annotations

from tests.cluster.drivers import Driver, alone

__all__ = ["alone"]

ON_NODES = """
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
    with Driver("-c", ON_NODES) as driver:
        assert driver.end() == 0, driver.said()
