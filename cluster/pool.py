"""Actors that wait for the next run: to start one takes seconds, most of them for what it imports."""

from __future__ import annotations

from typing import Any

import ray


class Pool:
    def __init__(self) -> None:
        self.idle: dict[type, list[Any]] = {}

    def hire(self, kind: type) -> Any:
        """An actor of this kind. Ray does not start it again, nor repeat its calls: who hires it looks after it."""
        waiting = self.idle.get(kind)
        return waiting.pop() if waiting else _started(kind)

    def replace(self, kind: type) -> Any:
        """One that is new for certain."""
        return _started(kind)

    def give_back(self, kind: type, actor: Any) -> None:
        """It has done all that it was asked to do."""
        self.idle.setdefault(kind, []).append(actor)


def _started(kind: type) -> Any:
    return ray.remote(kind).options(num_cpus=1, max_restarts=0, max_task_retries=0).remote()
