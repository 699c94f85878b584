"""Supervise the collector: it has no state, so a replacement can repeat its work."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any

from ray.exceptions import RayActorError, RayTaskError

from elsinore.actors.rows.rows import Rows
from elsinore.actors.shells.collector import Collector
from elsinore.cluster.machines.pool import Pool, wait_for_reply
from elsinore.cluster.run.budget import Budget


class SupervisedCollector:
    def __init__(self, pool: Pool, restarts: int, cut: Event | None = None) -> None:
        self.pool = pool
        self.cut = cut
        self.failures = Budget(restarts)
        self.collected = 0
        """Number of batches collected."""
        self.actor = pool.hire(Collector)

    def collect(self, parts: Sequence[Any]) -> list[Rows]:
        """Return the rows of a batch, given references to the partial rows of each graph actor."""
        while True:
            try:
                rows: list[Rows] = wait_for_reply(self.actor.collect.remote(*parts), self.cut)
            except RayTaskError as error:
                raise error.cause from None
            except RayActorError as error:
                self.failures.forgive(error, self.collected)
                self.actor = self.pool.replace(Collector)
            else:
                self.collected += 1
                return rows

    def dismiss(self) -> None:
        self.pool.give_back(Collector, self.actor)
