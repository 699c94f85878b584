"""Call the manager from other processes, and refuse requests while it is away."""

from __future__ import annotations

import asyncio
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.manager import NAME, NAMESPACE, Manager
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.refusals import RefusalError, refusal

REPLY_SECONDS = 120
"""Timeout in seconds for a call of the manager: it changes queries between two batches."""


class Control:
    def __init__(self, jobs: Jobs, service: ServiceSettings, settings: Settings) -> None:
        self.jobs = jobs
        options: dict[str, Any] = {"name": NAME, "namespace": NAMESPACE, "lifetime": "detached", "get_if_exists": True}
        remote = ray.remote(Manager).options(
            **options, num_cpus=0, max_restarts=-1, max_task_retries=0, max_concurrency=64
        )
        self.manager = remote.remote(service, settings)

    async def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the manager, and return its reply; raise RefusedError if it refuses or is away."""
        if self.jobs.manager() is None:
            raise away()
        try:
            return await asyncio.wait_for(_answer(getattr(self.manager, method).remote(*arguments)), REPLY_SECONDS)
        except RayTaskError as error:
            raise away() if isinstance(error.cause, RayError) else refusal(error.cause) from None
        except (RayError, GetTimeoutError, TimeoutError):
            raise away() from None


async def _answer(reference: Any) -> Any:
    return await reference


def away() -> RefusalError:
    return RefusalError(
        503,
        "the runtime is restarting; try again in a moment. Events are accepted and rows are read in the meantime",
        kind="recovering",
    )
