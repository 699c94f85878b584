"""Requests to the application in this process, with a control that records its calls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2

from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.settings import ServiceSettings, service_settings
from elsinore.cluster.service.submitting import submit
from elsinore.cluster.service.web.api import build
from elsinore.cluster.service.web.documents import Submission

WORKLOAD = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds SLIDE 10 seconds"
JOB = "there"


class Control:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, method: str, *_: Any) -> Any:
        self.asked.append(method)
        return []


class Asking:
    """An application with one job, and a recording control."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.settings: ServiceSettings = service_settings(data=folder, **more)
        self.jobs = Jobs(self.settings.data)
        self.jobs.begin()
        submit(self.jobs, Submission(workload=WORKLOAD, name=JOB), None, b"", self.settings)
        self.control = Control()
        self.app = build(self.settings, self.control)  # type: ignore[arg-type]

    def ask(self, method: str, path: str, headers: list[tuple[str, str]], content: bytes = b"") -> httpx2.Response:
        """Send a request with exactly these headers, and return the response."""
        return asyncio.run(self._ask(method, path, headers, content))

    async def _ask(self, method: str, path: str, headers: list[tuple[str, str]], content: bytes) -> httpx2.Response:
        transport = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            request = client.build_request(method, path, content=content)
            request.headers = httpx2.Headers(headers)
            return await client.send(request)

    @property
    def done(self) -> bool:
        """Return whether any request had an effect."""
        return self.control.asked != [] or [job.name for job in self.jobs.all()] != [JOB]
