"""The client for asyncio, with the same calls as `elsinore.client.waiting`."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import AsyncIterator, Callable
from os import PathLike
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

import httpx2

from elsinore.client.calls import Calls, Paging
from elsinore.client.exchange import NoResponse, Pause, Request, Response, Steps
from elsinore.client.facts import JobStatus, Sent
from elsinore.client.options import Options
from elsinore.client.pages import Page
from elsinore.client.patience import Patience
from elsinore.client.web import asked, options, response, silence

if TYPE_CHECKING:
    import pyarrow as pa

    from elsinore.result import Result

T = TypeVar("T")


def connect_async(url: str, *, token: str | None = None, patience: float = 60) -> AsyncClient:
    """Return a client of the service at this URL, without sending a request yet.

    Without `token`, the client uses the token that a service of this user on this machine made at exactly this address,
    if any. It retries a request that gets no reply, or a reply to come later, for up to `patience` seconds. Retries are
    harmless: no event is counted twice.
    """
    return AsyncClient(url, token=token, patience=patience)


class AsyncClient:
    """A client of a service that runs workloads. As an async context manager, it closes its connections at the end.

    It belongs to one event loop.
    """

    __module__ = "elsinore"

    def __init__(self, url: str, *, token: str | None = None, patience: float = 60) -> None:
        self.url = url
        self._calls = Calls(Patience(patience))
        self._http = httpx2.AsyncClient(**options(url, token))

    async def submit(
        self,
        workload: str | PathLike[str],
        **options: Unpack[Options],
    ) -> AsyncJob:
        """Submit a workload, given as text or path, as a job that takes events until it is removed.

        The option `columns` gives the types of the events' attributes; those that it omits get theirs from the first
        events that have them. The other options are those of `elsinore.stream`, and a `name` for the job.
        """
        return AsyncJob(self, await self._do(self._calls.submit(workload, options)))

    async def jobs(self) -> list[AsyncJob]:
        """Return all jobs of the service."""
        return [AsyncJob(self, status) for status in await self._do(self._calls.jobs())]

    async def job(self, id: str) -> AsyncJob:
        """Return a job that was submitted before."""
        return AsyncJob(self, await self._do(self._calls.status(id)))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncClient: {self.url}>"

    async def _do(self, steps: Steps[T]) -> T:
        """Run a call to its end, and return its value."""
        came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value
            came = await self._step(step)

    async def _each(self, steps: Paging) -> AsyncIterator[Page]:
        """Run a call, and yield its pages as they arrive."""
        came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration:
                return
            if isinstance(step, Page):
                yield step
                came = None
            else:
                came = await self._step(step)

    async def _step(self, step: Request | Pause) -> Response | NoResponse | None:
        if isinstance(step, Pause):
            await sleep(step.seconds)
            return None
        started_at = monotonic()
        try:
            return response(await self._http.request(**asked(step)))
        except httpx2.RequestError as error:
            return silence(error, started_at)


class AsyncJob:
    """A workload that runs on a service."""

    __module__ = "elsinore"

    def __init__(self, client: AsyncClient, known: JobStatus) -> None:
        self._client = client
        self._calls = client._calls
        self.known = known
        """The status from the last reply about the job; `status` requests a new one."""

    @property
    def id(self) -> str:
        """Return the job's id."""
        return self.known.id

    async def status(self) -> JobStatus:
        """Return the job's state, queries and counts."""
        return await self._learn(self._calls.status(self.id))

    async def send(
        self, events: Any, *, key: str | None = None, progress: Callable[[int], object] | None = None
    ) -> Sent:
        """Send events, and wait until the service has all of them safe.

        `events` is a pandas or Polars frame, anything that implements the Arrow C stream interface, a list of dicts, or
        an iterable of any of these; it is sent in compressed batches. With a `key` of your own, the same events may be
        sent again, even by another process, and count once. `progress` is called with the number of events of a batch.
        """
        return await self._client._do(self._calls.send(self.id, events, key, progress))

    async def results(self, *, follow: bool = False, after: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Yield the rows so far, each a dict as in `Result.rows`; with `follow`, wait for new rows forever."""
        async for page in self.pages(follow=follow, after=after):
            for row in page.rows():
                yield row

    def pages(self, *, follow: bool = False, after: str | None = None) -> AsyncIterator[Page]:
        """Yield the rows in pages, as Arrow tables; `after=page.cursor` continues after a page."""
        return self._client._each(self._calls.pages(self.id, after, follow))

    async def result(self) -> Result:
        """Return all rows so far, as `elsinore.run` would return them."""
        return await self._client._do(self._calls.result(self.id))

    async def explain(self) -> str:
        """Return the plan of the workload as text, with the reasons for it."""
        return await self._client._do(self._calls.explain(self.id))

    async def decisions(self, limit: int | None = None) -> pa.Table:
        """Return the decisions about the latest bursts that could be shared."""
        return await self._client._do(self._calls.decisions(self.id, limit))

    async def statistics(self) -> dict[str, Any]:
        """Return events and bursts by type, and the job's counts."""
        return await self._client._do(self._calls.statistics(self.id))

    async def pause(self) -> JobStatus:
        """Stop producing rows until the job is resumed; the service still accepts events."""
        return await self._learn(self._calls.pause(self.id))

    async def resume(self) -> JobStatus:
        return await self._learn(self._calls.resume(self.id))

    async def add(self, queries: str | PathLike[str]) -> JobStatus:
        """Add queries, which answer the windows that begin after the latest event. Other queries are not affected."""
        return await self._learn(self._calls.add(self.id, queries))

    async def drop(self, query: str) -> JobStatus:
        """Remove a query from the job."""
        return await self._learn(self._calls.drop(self.id, query))

    async def remove(self) -> None:
        """End the job and delete all its data."""
        await self._client._do(self._calls.remove(self.id))

    async def _learn(self, steps: Steps[JobStatus]) -> JobStatus:
        self.known = await self._client._do(steps)
        return self.known

    def __repr__(self) -> str:
        return f"<AsyncJob {repr(self.known)[1:]}"
