"""The bytes that cross the nodes of a Ray cluster in a run: four nodes on this machine, each with a Spark executor.

`python -m benchmarks.runtime.between_nodes EVENTS ACTORS...` prints a line of JSON for each number of actors.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster

from benchmarks.runtime.spark_and_ray import run
from elsinore.cluster.machines.java import prepare_java
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import settings
from elsinore.connectors.ridesharing import write
from elsinore.inputs import checked
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.routes import Route, routes

NODES = 4
CORES = 2
"""Cores of each node beside those of its graph actors: for a Spark executor, and for the collector."""

WORKLOADS = ("ridesharing", "board")
"""The examples that are run; the queries of each split the stream alike."""

KIND_BYTES, TICKS_BYTES = 2, 8
"""Bytes of the type and the time of an event, as they are handed over."""

OPTIONS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
SIZE: dict[str, Any] = {"object_store_memory": 256 << 20}


def needed_bytes(workload: Workload, path: Path) -> int:
    """Return the bytes of types, times and attributes that the queries need, once for each way to split the stream.

    A way takes the events of some types, and some attributes, as Arrow holds them.
    """
    return sum(_needed_by(route, path) for route in routes(workload))


def _needed_by(route: Route, path: Path) -> int:
    events = pq.read_table(path)
    if route.types is not None:
        events = events.filter(pc.is_in(events["type"].cast(pa.string()), pa.array(sorted(route.types))))
    plain = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column.cast(_widened(column.type))
        for column in events.select(route.columns).combine_chunks().columns
    ]
    return sum(column.nbytes for column in plain) + len(events) * (KIND_BYTES + TICKS_BYTES)


def _widened(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_integer(kind):
        return pa.int64()
    return pa.float64() if pa.types.is_floating(kind) else kind


def received(ports: Mapping[int, str]) -> dict[str, int]:
    """Return the bytes that came in so far at each connection to an object manager, by both addresses."""
    found: dict[str, int] = {}
    told = subprocess.run(["ss", "-tinH"], check=True, capture_output=True, text=True).stdout
    for line, more in zip(told.splitlines()[::2], told.splitlines()[1::2], strict=False):
        _, _, _, local, peer, *_ = line.split()
        got = re.search(r"bytes_received:(\d+)", more)
        if got and (int(local.rpartition(":")[2]) in ports):
            found[f"{local} {peer}"] = int(got[1])
    return found


def crossed(before: Mapping[str, int], after: Mapping[str, int]) -> int:
    return sum(count - before.get(name, 0) for name, count in after.items())


def main() -> None:
    events, *numbers = map(int, sys.argv[1:])
    prepare_java()
    head: dict[str, Any] = {"num_cpus": 0, **SIZE}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(NODES):
        cluster.add_node(num_cpus=CORES + max(numbers) // NODES, **SIZE)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rides.parquet"
        write(path, events, seed=1)
        chosen: dict[str, Any] = {
            "address": cluster.address,
            "spark_executors": NODES,
            "spark_cores": 1,
            "spark_memory": "512m",
            "spark_options": OPTIONS,
        }
        session(settings(engine="ray", **chosen))
        nodes: Any = ray.nodes()  # type: ignore[no-untyped-call]
        ports = {int(node["ObjectManagerPort"]): node["NodeID"] for node in nodes}
        for name, actors in product(WORKLOADS, numbers):
            text = Path(f"examples/{name}/workload.elsinore").read_text()
            before = received(ports)
            metrics = run(text, path, time_unit="s", actors=actors, **chosen)
            found = {
                "workload": name,
                "actors": actors,
                "crossed": crossed(before, received(ports)),
                "needed": needed_bytes(checked(text), path),
                "hand_over": metrics.hand_over,
            }
            print(json.dumps(found), flush=True)
        session(settings(engine="ray", **chosen)).close()
    shutdown: Any = cluster.shutdown
    shutdown()


if __name__ == "__main__":
    main()
