"""Keep idle actors for the next run: to start one takes seconds, most of them for its imports."""

from __future__ import annotations

from math import inf
from threading import Event
from time import monotonic
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from elsinore.actors.shells.dealer import Dealer
from elsinore.actors.shells.optimizer_actor import OptimizerActor
from elsinore.actors.shells.remote_optimizer import PLANS
from elsinore.connectors.errors import FailedError
from elsinore.planner.hamlet.optimizer import SharingOptimizer

IDLE_REPLY_SECONDS = 5.0
"""Seconds within which an idle actor has to reply."""

RAY_CHECK_SECONDS = 5.0
"""Seconds to wait for a reply between two checks whether Ray is alive."""

CUT_CHECK_SECONDS = 1.0
"""Seconds to wait for a reply between two checks whether it is still wanted."""

DEALER_THREADS = 4
"""Blocks that the dealer of a node cuts at a time; Arrow and NumPy work on them without the GIL."""

DEALER_BYTES = 1
"""What a dealer requests of its node: Ray starts an actor that requests nothing on any node, whatever it was told."""


def wait_for_reply(reference: Any, cut: Event | None = None, seconds: float = inf) -> Any:
    """Wait for an actor's reply, polling for Ray's death: Ray blocks forever on an actor that it cannot schedule.

    Raise FailedError when Ray has died, `cut` is set, or the seconds are over.
    """
    end = monotonic() + seconds
    while True:
        try:
            return ray.get(reference, timeout=RAY_CHECK_SECONDS if cut is None else CUT_CHECK_SECONDS)
        except GetTimeoutError:
            check_ray()
        if cut is not None and cut.is_set():
            raise FailedError("the stream was stopped while an actor was processing a batch")
        if monotonic() > end:
            raise FailedError(
                f"an actor did not reply within {seconds:g} seconds: it is processing a batch; try again later"
            )


def ray_lives() -> bool:
    """Return whether Ray runs and any of its nodes is alive."""
    return ray.is_initialized() and live_nodes() > 0


def live_nodes() -> int:
    return sum(node["Alive"] for node in ray.nodes())  # type: ignore[no-untyped-call]


def check_ray() -> None:
    if not ray_lives():
        raise FailedError("Ray has died: none of its nodes is alive. Run again, and Ray is restarted")


class Pool:
    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        """CPUs that each actor requests of Ray."""
        self.idle: dict[type, list[Any]] = {}
        self.optimizers: dict[SharingOptimizer, Any] = {}
        self.dealers: dict[str, Any] = {}

    @property
    def spread(self) -> bool:
        """Return whether actors are spread over machines, of which one may be lost while the others continue."""
        return self.cpus > 0

    def hire(self, kind: type) -> Any:
        """Return an actor of this kind, idle or new. The caller supervises it: Ray does not restart it or retry."""
        while True:
            try:
                actor = self.idle.get(kind, []).pop()
            except IndexError:  # streams of one process may hire at the same time
                return self.replace(kind)
            try:
                ray.get(actor.__ray_ready__.remote(), timeout=IDLE_REPLY_SECONDS)
            except RayError:  # it died while idle
                ray.kill(actor)
            else:
                return actor

    def optimizer(self, policy: SharingOptimizer) -> Any:
        """Return the optimizer actor of a policy. A run needs none of its state, so Ray restarts it if it dies."""
        if policy not in self.optimizers:
            threads: Any = ray.remote(concurrency_groups={PLANS: 1})  # type: ignore[call-overload]
            options = threads(OptimizerActor).options(num_cpus=0, max_restarts=-1, max_task_retries=0)
            self.optimizers[policy] = options.remote(policy)
        return self.optimizers[policy]

    def dealer(self, node: str) -> Any:
        """Return the dealer of a node, which has no state: Ray restarts it if it dies, and repeats its calls."""
        if node not in self.dealers:
            near = NodeAffinitySchedulingStrategy(node, soft=True)
            options = ray.remote(Dealer).options(
                num_cpus=0,
                memory=DEALER_BYTES,
                max_restarts=-1,
                max_task_retries=-1,
                max_concurrency=DEALER_THREADS,
                scheduling_strategy=near,
            )
            self.dealers[node] = options.remote()
        return self.dealers[node]

    def replace(self, kind: type) -> Any:
        """Start a new actor of this kind."""
        return ray.remote(kind).options(num_cpus=self.cpus, max_restarts=0, max_task_retries=0).remote()

    def give_back(self, kind: type, actor: Any) -> None:
        """Add an actor to the idle ones; all its calls must have returned."""
        self.idle.setdefault(kind, []).append(actor)
