"""The client for programs that wait for their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from time import monotonic, sleep
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


def connect(url: str, *, token: str | None = None, patience: float = 60) -> Client:
    """A client of the service at this URL; nothing is asked yet.

    Without a token it shows the one that a service of this user on this machine made at just this address, if any.
    A request that gets no answer, or is asked to come later, is repeated for up to `patience` seconds, without harm:
    no event is counted twice.
    """
    return Client(url, token=token, patience=patience)


class Client:
    """A service that runs workloads, as its user sees it. In a `with`, connections are closed at its end.

    It may be used by several threads.
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
        """Have a workload, given as text or path, run over events that will be sent; it goes on until it is removed.

        Of the options, `columns` says of which types the attributes of events are; where it does not, the first events
        do. The others are those of `elsinore.stream`, and a `name` for the job.
        """
        return Job(self, self._do(self._calls.submit(workload, options)))

    def jobs(self) -> list[Job]:
        """All jobs of the service."""
        return [Job(self, status) for status in self._do(self._calls.jobs())]

    def job(self, id: str) -> Job:
        """A job that was submitted before."""
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
        """A call, to its end."""
        came = None
        while True:
            try:
                step = steps.send(came)
            except StopIteration as end:
                return end.value
            came = self._step(step)

    def _each(self, steps: Paging) -> Iterator[Page]:
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
                came = self._step(step)

    def _step(self, step: Request | Pause) -> Response | Silence | None:
        if isinstance(step, Pause):
            sleep(step.seconds)
            return None
        begun = monotonic()
        try:
            return response(self._http.request(**asked(step)))
        except httpx2.RequestError as error:
            return silence(error, begun)


class Job:
    """A workload that a service runs."""

    __module__ = "elsinore"

    def __init__(self, client: Client, known: JobStatus) -> None:
        self._client = client
        self._calls = client._calls
        self.known = known
        """What the service told of it last; `status` asks."""

    @property
    def id(self) -> str:
        """The name by which the service knows it."""
        return self.known.id

    def status(self) -> JobStatus:
        """Its state, its queries, and what it has counted."""
        return self._learn(self._calls.status(self.id))

    def send(self, events: Any, *, key: str | None = None, progress: Callable[[int], object] | None = None) -> Sent:
        """Send events, and wait until the service has all of them safe.

        `events` is a pandas or Polars frame, anything that speaks the Arrow C stream interface, a list of dicts, or an
        iterable of any of these; it goes in batches, compressed. With a `key` of your own, the same events may be sent
        again, by another process too, and count once. `progress` is told how many events each batch had.
        """
        return self._client._do(self._calls.send(self.id, events, key, progress))

    def results(self, *, follow: bool = False, after: str | None = None) -> Iterator[dict[str, Any]]:
        """The rows so far, each a dict as `Result.rows` gives them; with `follow` also those that come, for ever."""
        for page in self.pages(follow=follow, after=after):
            yield from page.rows()

    def pages(self, *, follow: bool = False, after: str | None = None) -> Iterator[Page]:
        """The rows by the page, as Arrow tables, each with the cursor behind it: `after=page.cursor` goes on there."""
        return self._client._each(self._calls.pages(self.id, after, follow))

    def result(self) -> Result:
        """All rows so far, as `elsinore.run` would give them."""
        return self._client._do(self._calls.result(self.id))

    def explain(self) -> str:
        """How the workload is run, and why so."""
        return self._client._do(self._calls.explain(self.id))

    def decisions(self, limit: int | None = None) -> pa.Table:
        """What was decided about bursts of late that could be shared."""
        return self._client._do(self._calls.decisions(self.id, limit))

    def statistics(self) -> dict[str, Any]:
        """Events and bursts by type, and what the job has counted."""
        return self._client._do(self._calls.statistics(self.id))

    def pause(self) -> JobStatus:
        """Rows wait until it is resumed; events are taken all the same."""
        return self._learn(self._calls.pause(self.id))

    def resume(self) -> JobStatus:
        return self._learn(self._calls.resume(self.id))

    def add(self, queries: str | PathLike[str]) -> JobStatus:
        """Add queries, which answer the windows that begin after the latest event. The others notice nothing."""
        return self._learn(self._calls.add(self.id, queries))

    def drop(self, query: str) -> JobStatus:
        """Answer this query no more."""
        return self._learn(self._calls.drop(self.id, query))

    def remove(self) -> None:
        """End it, and forget everything of it."""
        self._client._do(self._calls.remove(self.id))

    def _learn(self, steps: Steps[JobStatus]) -> JobStatus:
        self.known = self._client._do(steps)
        return self.known

    def __repr__(self) -> str:
        return f"<Job {repr(self.known)[1:]}"
