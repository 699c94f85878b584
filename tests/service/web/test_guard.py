"""Open requests are bounded: of all jobs of a replica together, and of each job, so that none locks others out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from elsinore.cluster.service.settings import service_settings
from elsinore.cluster.service.web.guard import Guard

FOLLOW, OTHER, LIST, HEALTH = (
    "/v1/workloads/one/results/stream",
    "/v1/workloads/two/results",
    "/v1/workloads",
    "/v1/health",
)


class Held:
    """A guard around an application that answers no request before it is told to."""

    def __init__(self, **settings: Any) -> None:
        self.guard = Guard(self.app, service_settings(token=None, **settings))
        self.over = asyncio.Event()
        self.open: list[asyncio.Task[int]] = []

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        await self.over.wait()
        if scope["path"].endswith("gone"):
            raise ConnectionError("the client has gone")
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def begin(self, path: str) -> int | None:
        """Send a request, and return its status, or None while it is open."""
        task = asyncio.create_task(self.ask(path))
        self.open.append(task)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task.result() if task.done() else None

    async def ask(self, path: str) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", b"127.0.0.1:8000")]
        await self.guard({"type": "http", "path": path, "headers": headers}, None, send)
        status: int = sent[0]["status"]
        return status

    async def end(self) -> list[Any]:
        self.over.set()
        return await asyncio.gather(*self.open, return_exceptions=True)


def test_followers_of_one_job_leave_room_for_others() -> None:
    async def test() -> None:
        here = Held(requests=10, job_requests=3)
        statuses = [await here.begin(FOLLOW) for _ in range(5)]
        assert statuses == [None, None, None, 429, 429]
        assert [await here.begin(path) for path in (OTHER, LIST, LIST, LIST, LIST)] == [None] * 5
        assert await here.begin(FOLLOW.replace("stream", "")) == 429
        await here.end()
        assert await here.ask(FOLLOW) == 200

    asyncio.run(test())


def test_open_pages_leave_room_for_clients() -> None:
    async def test() -> None:
        here = Held(requests=10, job_requests=3)
        statuses = [await here.begin("/console/updates") for _ in range(5)]
        assert statuses == [None, None, None, 429, 429]
        assert [await here.begin(path) for path in (OTHER, FOLLOW, LIST)] == [None] * 3
        await here.end()

    asyncio.run(test())


def test_open_requests_have_a_bound() -> None:
    async def test() -> None:
        here = Held(requests=4)
        statuses = [await here.begin(f"/v1/workloads/job-{number}") for number in range(6)]
        assert statuses == [None] * 4 + [429] * 2
        assert await here.begin(HEALTH) is None
        await here.end()

    asyncio.run(test())


@pytest.mark.parametrize("path", [OTHER, "/v1/workloads/one/gone"])
def test_what_has_ended_does_not_count_whatever_became_of_it(path: str) -> None:
    async def test() -> None:
        here = Held(requests=10, job_requests=2)
        assert [await here.begin(path) for _ in range(3)] == [None, None, 429]
        await here.end()
        assert here.guard.open == 0
        assert not here.guard.open_of

    asyncio.run(test())
