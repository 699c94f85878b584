"""What is needed of Ray's private names. No other module uses them, because any version of Ray may change them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ray._common import constants
from ray._private import ray_constants, state, worker

HEAD_NODE: str = constants.HEAD_NODE_RESOURCE_NAME
"""The resource that only the head node of a cluster has."""


@contextmanager
def calls_to_java() -> Iterator[None]:
    """Let Ray load code from here, without which it calls no actors in Java; left on, later hand-overs hang."""
    process: Any = worker.global_worker
    process.set_load_code_from_local(True)
    try:
        yield
    finally:
        process.set_load_code_from_local(False)


def node_of(actor: Any) -> str:
    """Return the identifier of the node on which an actor runs."""
    return str(state.actors(actor_id=actor._actor_id.hex())["Address"]["NodeID"])


def job_of(actor: Any) -> Any:
    """Return the identifier of the job that an actor belongs to."""
    return actor._actor_id.job_id


def dead_actors(job: Any) -> Any:
    """Return the actors of a job that have died for good."""
    return state.actors(job_id=job, actor_state_name="DEAD")


def disable_clusters() -> None:
    """Disable Ray's clusters: otherwise Ray replaces 127.0.0.1 by the machine's outer address."""
    os.environ[ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR] = "0"
    ray_constants.ENABLE_RAY_CLUSTER = False


def logs_folder() -> str:
    """Return the folder into which Ray's processes on this node write their logs."""
    node: Any = worker._global_node
    return str(node.get_logs_dir_path())


def replica_module() -> Any:
    """Return Serve's module of replicas."""
    from ray.serve._private import replica

    return replica
