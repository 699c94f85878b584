"""The client for programs on asyncio: the same calls as those of `elsinore.client.waiting`, awaited."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import AsyncIterator, Callable
from os import PathLike
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

import httpx2

from elsinore.client.calls import Calls, Paging
from elsinore.client.exchange import Pause, Request, Response, Silence, Steps
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
    """A client of the service at this URL; nothing is asked yet.

    Without a token it shows the one that a service of this user on this machine made at just this address, if any.
    A request that gets no answer, or is asked to come later, is repeated for up to `patience` seconds, without harm:
    no event is counted twice.
    """
    return AsyncClient(url, token=token, patience=patience)


class AsyncClient:
    """A service that runs workloads, as its user sees it. In an `async with`, connections are closed at its end.

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
        """Have a workload, given as text or path, run over events that will be sent; it goes on until it is removed.

        Of the options, `columns` says of which types the attributes of events are; where it does not, the first events
        do. The others are those of `elsinore.stream`, and a `name` for the job.
        """
        return AsyncJob(self, await self._do(self._calls.submit(workload, options)))

    async def jobs(self) -> list[AsyncJob]:
        """All jobs of the service."""
        return [AsyncJob(self, status) for status in await self._do(self._calls.jobs())]

    async def job(self, id: str) -> AsyncJob:
        """A job that was submitted before."""
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
        """A call, to its end."""
        came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value
            came = await self._step(step)

    async def _each(self, steps: Paging) -> AsyncIterator[Page]:
        """The pages of a call, as they come."""
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

    async def _step(self, step: Request | Pause) -> Response | Silence | None:
        if isinstance(step, Pause):
            await sleep(step.seconds)
            return None
        begun = monotonic()
        try:
            return response(await self._http.request(**asked(step)))
        except httpx2.RequestError as error:
            return silence(error, begun)


class AsyncJob:
    """A workload that a service runs."""

    __module__ = "elsinore"

    def __init__(self, client: AsyncClient, known: JobStatus) -> None:
        self._client = client
        self._calls = client._calls
        self.known = known
        """What the service told of it last; `status` asks."""

    @property
    def id(self) -> str:
        """The name by which the service knows it."""
        return self.known.id

    async def status(self) -> JobStatus:
        """Its state, its queries, and what it has counted."""
        return await self._learn(self._calls.status(self.id))

    async def send(
        self, events: Any, *, key: str | None = None, progress: Callable[[int], object] | None = None
    ) -> Sent:
        """Send events, and wait until the service has all of them safe.

        `events` is a pandas or Polars frame, anything that speaks the Arrow C stream interface, a list of dicts, or an
        iterable of any of these; it goes in batches, compressed. With a `key` of your own, the same events may be sent
        again, by another process too, and count once. `progress` is told how many events each batch had.
        """
        return await self._client._do(self._calls.send(self.id, events, key, progress))

    async def results(self, *, follow: bool = False, after: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """The rows so far, each a dict as `Result.rows` gives them; with `follow` also those that come, for ever."""
        async for page in self.pages(follow=follow, after=after):
            for row in page.rows():
                yield row

    def pages(self, *, follow: bool = False, after: str | None = None) -> AsyncIterator[Page]:
        """The rows by the page, as Arrow tables, each with the cursor behind it: `after=page.cursor` goes on there."""
        return self._client._each(self._calls.pages(self.id, after, follow))

    async def result(self) -> Result:
        """All rows so far, as `elsinore.run` would give them."""
        return await self._client._do(self._calls.result(self.id))

    async def explain(self) -> str:
        """How the workload is run, and why so."""
        return await self._client._do(self._calls.explain(self.id))

    async def decisions(self, limit: int | None = None) -> pa.Table:
        """What was decided about bursts of late that could be shared."""
        return await self._client._do(self._calls.decisions(self.id, limit))

    async def statistics(self) -> dict[str, Any]:
        """Events and bursts by type, and what the job has counted."""
        return await self._client._do(self._calls.statistics(self.id))

    async def pause(self) -> JobStatus:
        """Rows wait until it is resumed; events are taken all the same."""
        return await self._learn(self._calls.pause(self.id))

    async def resume(self) -> JobStatus:
        return await self._learn(self._calls.resume(self.id))

    async def add(self, queries: str | PathLike[str]) -> JobStatus:
        """Add queries, which answer the windows that begin after the latest event. The others notice nothing."""
        return await self._learn(self._calls.add(self.id, queries))

    async def drop(self, query: str) -> JobStatus:
        """Answer this query no more."""
        return await self._learn(self._calls.drop(self.id, query))

    async def remove(self) -> None:
        """End it, and forget everything of it."""
        await self._client._do(self._calls.remove(self.id))

    async def _learn(self, steps: Steps[JobStatus]) -> JobStatus:
        self.known = await self._client._do(steps)
        return self.known

    def __repr__(self) -> str:
        return f"<AsyncJob {repr(self.known)[1:]}"
