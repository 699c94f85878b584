"""The collector, supervised: it holds nothing, so whoever takes its place does the same work again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from actors.collector import Collector
from actors.rows import Rows


class Collecting:
    def __init__(self, restarts: int) -> None:
        self.left = restarts
        self.actor = _begun()

    def collect(self, parts: Sequence[Any]) -> list[Rows]:
        """The rows of a batch, given references to what each graph actor knows of them."""
        while True:
            try:
                rows: list[Rows] = ray.get(self.actor.collect.remote(*parts))
            except RayTaskError as error:
                raise error.cause from None
            except RayActorError:
                if not self.left:
                    raise
                self.left -= 1
                self.actor = _begun()
            else:
                return rows

    def dismiss(self) -> None:
        ray.kill(self.actor)


def _begun() -> Any:
    return ray.remote(Collector).options(num_cpus=1, max_restarts=0, max_task_retries=0).remote()
