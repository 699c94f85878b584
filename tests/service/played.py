"""A service without Ray and Spark: the real routes, manager and jobs over fake streams."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from threading import Event, Lock
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import httpx2
import pyarrow as pa

from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.job_runner import JobRunner
from elsinore.cluster.service.jobs import Jobs, StoredJob
from elsinore.cluster.service.manager import Manager
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.api import build
from elsinore.cluster.service.web.refusals import refusal
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint
from elsinore.cluster.stream.live import LiveMetrics
from elsinore.cluster.stream.terms import Terms
from elsinore.planner.plans.routes import Ranges
from elsinore.planner.time.clock import Clock

WORKLOAD = "QUERY q RETURN COUNT(*) PATTERN A+ WITHIN 1 minute SLIDE 1 minute"
SETTINGS = Settings(engine="ray")


class PlayedLive:
    """A fake of a live stream, which holds the checkpoint of its job until it is stopped."""

    def __init__(self, job: StoredJob, clock: Clock | None = None, done: BatchRecord | None = None) -> None:
        self.checkpoint = Checkpoint(str(job.checkpoint))
        self.metrics = LiveMetrics(batches=3, events=5)
        self.done = done or BatchRecord(3)
        clock = clock or Clock.of(pa.int64(), "s", [Fraction(60)])
        self.terms = Terms("x", WORKLOAD, "auto", "exact", clock, Ranges.even(128, 2))
        self.crew = SimpleNamespace(ask=lambda _: [])
        self.replaced = 0
        self.going = True
        self.error: Exception | None = None

    def wait(self, seconds: float | None = None) -> bool:
        if not self.going and self.error is not None:
            raise self.error
        return not self.going

    def change(self, workload: str) -> None:
        """Ignore the change, which a live stream applies between two batches."""

    def stop(self) -> None:
        self.going = False
        self.checkpoint.close()

    def fail(self, error: Exception) -> None:
        self.error = error
        self.stop()


class PlayedManager(Manager):
    """A manager that polls its jobs only on request."""

    def __init__(self, service: ServiceSettings) -> None:
        self.service, self.settings = service, SETTINGS
        self.jobs = Jobs(service.data)
        self.jobs.begin()
        self.runners: dict[str, JobRunner] = {}
        self.gauges: Any = SimpleNamespace(set=lambda *_: None, forget=lambda _: None)
        self.spark = True
        self._starting, self._runners_lock, self._over = Lock(), Lock(), Event()


class PlayedControl:
    """A control that calls a manager in this process, and turns its exceptions into refusals like the real one."""

    def __init__(self, manager: PlayedManager) -> None:
        self.manager = manager

    async def ask(self, method: str, *arguments: Any) -> Any:
        try:
            return await asyncio.to_thread(getattr(self.manager, method), *arguments)
        except Exception as error:  # noqa: BLE001 - the real one gets all of them too
            raise refusal(error) from None


class Played:
    def __init__(self, service: ServiceSettings) -> None:
        self.manager = PlayedManager(service)
        control: Any = PlayedControl(self.manager)
        self.app = build(service, control)
        self.jobs = self.manager.jobs

    def look(self) -> None:
        """Poll all jobs, as the real manager does twice a second."""
        self.manager._find_jobs()
        self.manager._give_sign_of_life()

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        async def asked() -> httpx2.Response:
            transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **options)

        return asyncio.run(asked())

    def document(self, job: str) -> Any:
        answer = self.ask("GET", f"/v1/workloads/{job}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def played(service: ServiceSettings) -> Iterator[Played]:
    found = Played(service)
    try:
        yield found
    finally:
        for one in list(found.manager.runners.values()):
            one.end(at_once=True)


def until(what: Any, seconds: float = 30.0) -> Any:
    """Poll a function until its result is true, and return the result."""
    end = monotonic() + seconds
    while not (found := what()):
        assert monotonic() < end, "it did not come true"
        sleep(0.02)
    return found


def replaced(path: Path, harm: str) -> None:
    """Replace a file by a damaged one, by a folder, or by nothing."""
    content = path.read_bytes() if path.is_file() else b""
    path.unlink(missing_ok=True)
    if harm == "a folder":
        path.mkdir()
    elif harm != "missing":
        path.write_bytes(HARMS[harm](content))


HARMS: dict[str, Any] = {
    "empty": lambda _: b"",
    "torn": lambda content: content[: len(content) // 2] or b"{",
    "zeros": lambda content: bytes(len(content) or 8),
    "no text": lambda _: b"\xff\xfe\x00\x01",
    "a list": lambda _: b"[1, 2]",
    "a number": lambda _: b"17",
    "null": lambda _: b"null",
    "an empty object": lambda _: b"{}",
    "other fields": lambda _: b'{"surprise": {"of": "another"}, "time": "now", "metrics": 5, "state": ["x"]}',
    "deep": lambda _: b"[" * 100_000,
    "not a number": lambda _: (
        b'{"state": "running", "metrics": {"events": NaN, "rows": "many"}, "types": {}, "time": 1e999}'
    ),
    "a folder": None,
    "missing": None,
}
