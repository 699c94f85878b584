"""Actors that wait for the next run: to start one takes seconds, most of them for what it imports."""

from __future__ import annotations

from math import inf
from threading import Event
from time import monotonic
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from elsinore.actors.shells.optimizer_actor import OptimizerActor
from elsinore.connectors.errors import FailedError
from elsinore.planner.hamlet.optimizer import SharingOptimizer

READY = 5.0
"""Seconds after which an actor that has nothing to do has to answer."""

LOOK = 5.0
"""Seconds to wait for an answer before a look whether anybody is left to give it."""

CUT_SECONDS = 1.0
"""Seconds between two looks whether an answer is still wanted."""


def heard(reference: Any, cut: Event | None = None, seconds: float = inf) -> Any:
    """What an actor answers. For one that cannot be begun Ray would wait for ever: for a node that may yet come.

    FailedError when `cut` is set, or after so many seconds.
    """
    end = monotonic() + seconds
    while True:
        try:
            return ray.get(reference, timeout=LOOK if cut is None else CUT_SECONDS)
        except GetTimeoutError:
            check_ray()
        if cut is not None and cut.is_set():
            raise FailedError("the stream was ended while an actor was at work")
        if monotonic() > end:
            raise FailedError(f"an actor has not answered for {seconds:g} seconds; it is at work, try again later")


def ray_lives() -> bool:
    """Is there somebody left who could do something?"""
    return ray.is_initialized() and any(node["Alive"] for node in ray.nodes())  # type: ignore[no-untyped-call]


def check_ray() -> None:
    if not ray_lives():
        raise FailedError("Ray has died: none of its nodes is left. Begin again, and Ray is begun anew")


class Pool:
    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        """What an actor asks of Ray."""
        self.idle: dict[type, list[Any]] = {}
        self.optimizers: dict[SharingOptimizer, Any] = {}

    @property
    def spread(self) -> bool:
        """Over machines, of which one may be lost while others go on."""
        return self.cpus > 0

    def hire(self, kind: type) -> Any:
        """An actor of this kind. Ray does not start it again, nor repeat its calls: who hires it looks after it."""
        while True:
            try:
                actor = self.idle.get(kind, []).pop()
            except IndexError:  # streams of one process may hire at the same time
                return self.replace(kind)
            try:
                ray.get(actor.__ray_ready__.remote(), timeout=READY)
            except RayError:  # it died while nobody looked
                ray.kill(actor)
            else:
                return actor

    def optimizer(self, policy: SharingOptimizer) -> Any:
        """The one that decides so. It remembers nothing that a run needs, so Ray starts it again where it dies."""
        if policy not in self.optimizers:
            options = ray.remote(OptimizerActor).options(num_cpus=0, max_restarts=-1, max_task_retries=0)
            self.optimizers[policy] = options.remote(policy)
        return self.optimizers[policy]

    def replace(self, kind: type) -> Any:
        """One that is new for certain."""
        return ray.remote(kind).options(num_cpus=self.cpus, max_restarts=0, max_task_retries=0).remote()

    def give_back(self, kind: type, actor: Any) -> None:
        """It has done all that it was asked to do."""
        self.idle.setdefault(kind, []).append(actor)
