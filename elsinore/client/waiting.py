"""The blocking client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from time import monotonic, sleep
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


def connect(url: str, *, token: str | None = None, patience: float = 60) -> Client:
    """Return a client of the service at this URL, without sending a request yet.

    Without `token`, the client uses the token that a service of this user on this machine made at exactly this address,
    if any. It retries a request that gets no reply, or a reply to come later, for up to `patience` seconds. Retries are
    harmless: no event is counted twice.
    """
    return Client(url, token=token, patience=patience)


class Client:
    """A client of a service that runs workloads. As a context manager, it closes its connections at the end.

    Several threads may use it.
    """

    __module__ = "elsinore"

    def __init__(self, url: str, *, token: str | None = None, patience: float = 60) -> None:
        self.url = url
        self._calls = Calls(Patience(patience))
        self._http = httpx2.Client(**options(url, token))

    def submit(
        self,
        workload: str | PathLike[str],
        **options: Unpack[Options],
    ) -> Job:
        """Submit a workload, given as text or path, as a job that takes events until it is removed.

        The option `columns` gives the types of the events' attributes; those that it omits get theirs from the first
        events that have them. The other options are those of `elsinore.stream`, and a `name` for the job.
        """
        return Job(self, self._do(self._calls.submit(workload, options)))

    def jobs(self) -> list[Job]:
        """Return all jobs of the service."""
        return [Job(self, status) for status in self._do(self._calls.jobs())]

    def job(self, id: str) -> Job:
        """Return a job that was submitted before."""
        return Job(self, self._do(self._calls.status(id)))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client: {self.url}>"

    def _do(self, steps: Steps[T]) -> T:
        """Run a call to its end, and return its value."""
        came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value
            came = self._step(step)

    def _each(self, steps: Paging) -> Iterator[Page]:
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
                came = self._step(step)

    def _step(self, step: Request | Pause) -> Response | NoResponse | None:
        if isinstance(step, Pause):
            sleep(step.seconds)
            return None
        started_at = monotonic()
        try:
            return response(self._http.request(**asked(step)))
        except httpx2.RequestError as error:
            return silence(error, started_at)


class Job:
    """A workload that runs on a service."""

    __module__ = "elsinore"

    def __init__(self, client: Client, known: JobStatus) -> None:
        self._client = client
        self._calls = client._calls
        self.known = known
        """The status from the last reply about the job; `status` requests a new one."""

    @property
    def id(self) -> str:
        """Return the job's id."""
        return self.known.id

    def status(self) -> JobStatus:
        """Return the job's state, queries and counts."""
        return self._learn(self._calls.status(self.id))

    def send(self, events: Any, *, key: str | None = None, progress: Callable[[int], object] | None = None) -> Sent:
        """Send events, and wait until the service has all of them safe.

        `events` is a pandas or Polars frame, anything that implements the Arrow C stream interface, a list of dicts, or
        an iterable of any of these; it is sent in compressed batches. With a `key` of your own, the same events may be
        sent again, even by another process, and count once. `progress` is called with the number of events of a batch.
        """
        return self._client._do(self._calls.send(self.id, events, key, progress))

    def results(self, *, follow: bool = False, after: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows so far, each a dict as in `Result.rows`; with `follow`, wait for new rows forever."""
        for page in self.pages(follow=follow, after=after):
            yield from page.rows()

    def pages(self, *, follow: bool = False, after: str | None = None) -> Iterator[Page]:
        """Yield the rows in pages, as Arrow tables; `after=page.cursor` continues after a page."""
        return self._client._each(self._calls.pages(self.id, after, follow))

    def result(self) -> Result:
        """Return all rows so far, as `elsinore.run` would return them."""
        return self._client._do(self._calls.result(self.id))

    def explain(self) -> str:
        """Return the plan of the workload as text, with the reasons for it."""
        return self._client._do(self._calls.explain(self.id))

    def decisions(self, limit: int | None = None) -> pa.Table:
        """Return the decisions about the latest bursts that could be shared."""
        return self._client._do(self._calls.decisions(self.id, limit))

    def statistics(self) -> dict[str, Any]:
        """Return events and bursts by type, and the job's counts."""
        return self._client._do(self._calls.statistics(self.id))

    def pause(self) -> JobStatus:
        """Stop producing rows until the job is resumed; the service still accepts events."""
        return self._learn(self._calls.pause(self.id))

    def resume(self) -> JobStatus:
        return self._learn(self._calls.resume(self.id))

    def add(self, queries: str | PathLike[str]) -> JobStatus:
        """Add queries, which answer the windows that begin after the latest event. Other queries are not affected."""
        return self._learn(self._calls.add(self.id, queries))

    def drop(self, query: str) -> JobStatus:
        """Remove a query from the job."""
        return self._learn(self._calls.drop(self.id, query))

    def remove(self) -> None:
        """End the job and delete all its data."""
        self._client._do(self._calls.remove(self.id))

    def _learn(self, steps: Steps[JobStatus]) -> JobStatus:
        self.known = self._client._do(steps)
        return self.known

    def __repr__(self) -> str:
        return f"<Job {repr(self.known)[1:]}"
