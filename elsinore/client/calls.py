"""All calls of the service: their requests, and the meaning of the responses, independent of the HTTP client."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa

from elsinore.client.batches import EventBatch, batches
from elsinore.client.error_replies import refusal
from elsinore.client.exchange import ARROW, JSON, NoResponse, Pause, Request, Response, Steps
from elsinore.client.facts import JobStatus, Sent
from elsinore.client.options import Options, wired
from elsinore.client.pages import Page, table_of
from elsinore.client.patience import FinalResponse, Patience, answered
from elsinore.connectors.rows.answers import Answers, united
from elsinore.connectors.rows.row_tables import APPROXIMATE, NULL
from elsinore.result import Result
from elsinore.workloads import text_of

WORKLOADS = "/v1/workloads"
LONG_POLL_SECONDS = 20
"""Seconds for which the service delays a page until there is a row (long polling)."""
PAGE_ROWS = 10_000
"""The most rows of a page."""
TOO_LARGE = 413

Paging: TypeAlias = Generator[Request | Pause | Page, Response | NoResponse | None, None]
"""A call that also yields pages as they arrive."""


@dataclass(frozen=True)
class Calls:
    """The calls of one client."""

    patience: Patience

    def submit(self, workload: str | PathLike[str], options: Options) -> Steps[JobStatus]:
        text = text_of(workload)
        response = yield from self._sent(WORKLOADS, {"workload": text, **wired(options)}, text)
        return _status(response)

    def jobs(self) -> Steps[list[JobStatus]]:
        response = yield from self._asked("GET", WORKLOADS)
        return [JobStatus.of(document) for document in json.loads(response.body)["workloads"]]

    def status(self, job: str) -> Steps[JobStatus]:
        return _status((yield from self._asked("GET", _path(job))))

    def remove(self, job: str) -> Steps[None]:
        yield from self._gone(_path(job))

    def pause(self, job: str) -> Steps[JobStatus]:
        return _status((yield from self._asked("POST", _path(job, "pause"))))

    def resume(self, job: str) -> Steps[JobStatus]:
        return _status((yield from self._asked("POST", _path(job, "resume"))))

    def add(self, job: str, queries: str | PathLike[str]) -> Steps[JobStatus]:
        text = text_of(queries)
        response = yield from self._sent(_path(job, "queries"), {"workload": text}, text)
        return _status(response)

    def drop(self, job: str, query: str) -> Steps[JobStatus]:
        yield from self._gone(_path(job, "queries", query))
        return (yield from self.status(job))

    def explain(self, job: str) -> Steps[str]:
        return (yield from self._asked("GET", _path(job, "explain"))).body.decode()

    def decisions(self, job: str, limit: int | None) -> Steps[pa.Table]:
        params = {} if limit is None else {"limit": str(limit)}
        request = Request("GET", _path(job, "decisions"), params, {"Accept": ARROW})
        return table_of(_good((yield from answered(request, self.patience))))

    def statistics(self, job: str) -> Steps[dict[str, Any]]:
        return json.loads((yield from self._asked("GET", _path(job, "statistics"))).body)

    def send(
        self, job: str, events: Any, key: str | None = None, progress: Callable[[int], object] | None = None
    ) -> Steps[Sent]:
        """Send all events, batch by batch; split a batch that is too large for the service into halves."""
        own_key, sent = key or uuid4().hex, Sent()
        for number, batch in enumerate(batches(events)):
            waiting = [(f"{own_key}-{number}", batch)]
            while waiting:
                name, part = waiting.pop()
                taken = yield from self._batch(job, name, part, sent)
                if taken is None:
                    first, second = part.halves()
                    waiting += [(f"{name}.1", second), (f"{name}.0", first)]
                    continue
                sent = Sent(sent.events + taken[0], sent.batches + 1, sent.repeated + taken[0] * taken[1])
                if progress is not None:
                    progress(taken[0])
        return sent

    def page(self, job: str, after: str | None, wait: int = 0) -> Steps[Page]:
        params = {"limit": str(PAGE_ROWS), "wait": str(wait)} | ({} if after is None else {"after": after})
        request = Request("GET", _path(job, "results"), params, {"Accept": ARROW}, wait=wait)
        return Page.of(_good((yield from answered(request, self.patience))))

    def pages(self, job: str, after: str | None, follow: bool) -> Paging:
        """Yield the pages that have rows; with `follow`, wait for new ones forever."""
        while True:
            page = yield from self.page(job, after, LONG_POLL_SECONDS if follow else 0)
            after = page.cursor
            if len(page):
                yield page
            elif not follow:
                return
            else:
                yield from self._alive(job)

    def result(self, job: str) -> Steps[Result]:
        """Return all rows so far, as the result of a run that ends here."""
        pages = [(yield from self.page(job, None))]
        while len(pages[-1]):
            pages.append((yield from self.page(job, pages[-1].cursor)))
        return _result(pages, (yield from self.status(job)))

    def _alive(self, job: str) -> Steps[None]:
        """Raise the error of a job that has failed, because it will have no more rows."""
        status = yield from self.status(job)
        if status.state == "failed" and status.error is not None:
            raise status.error

    def _batch(self, job: str, key: str, batch: EventBatch, before: Sent) -> Steps[tuple[int, bool] | None]:
        """Send a batch; return its events and whether the service already had them, None if it is too large."""
        headers = {"Idempotency-Key": key, "Accept": JSON, **batch.headers()}
        request = Request("POST", _path(job, "events"), {}, headers, batch.body())
        try:
            got = yield from answered(request, self.patience)
            if got.response.status == TOO_LARGE and len(batch) > 1:
                return None
            document = json.loads(_good(got).body)
        except (ValueError, RuntimeError) as error:
            if before.events:
                error.add_note(f"{before.events:,} events before these are safe with the service.")
            raise
        return document["events"], document["repeated"]

    def _asked(self, method: str, path: str) -> Steps[Response]:
        return _good((yield from answered(Request(method, path), self.patience)))

    def _sent(self, path: str, document: Mapping[str, Any], text: str) -> Steps[Response]:
        """Post a document about a workload, with an idempotency key, so that it can be retried."""
        headers = {"Content-Type": JSON, "Idempotency-Key": uuid4().hex}
        request = Request("POST", path, {}, headers, json.dumps(document).encode())
        return _good((yield from answered(request, self.patience)), text)

    def _gone(self, path: str) -> Steps[None]:
        """Delete a resource. A 404 after a lost attempt is a success: that attempt deleted it."""
        got = yield from answered(Request("DELETE", path), self.patience)
        if not (got.lost and got.response.status == 404):
            _good(got)


def _path(job: str, *rest: str) -> str:
    return "/".join([WORKLOADS, *(quote(part, safe="") for part in (job, *rest))])


def _good(got: FinalResponse, text: str = "") -> Response:
    if got.response.status >= 300:
        raise refusal(got.response, text)
    return got.response


def _status(response: Response) -> JobStatus:
    return JobStatus.of(json.loads(response.body))


def _result(pages: list[Page], status: JobStatus) -> Result:
    found: dict[str, list[Answers]] = {}
    for page in pages:
        for part in page.parts():
            found.setdefault(part.query, []).append(part)
    columns = dict(pages[-1].columns)
    for page in pages:
        columns |= {name: names for name, names in page.columns.items() if name not in columns}
    answers = {name: united(found[name]) for name in columns if name in found}
    first = pages[0].table.schema
    approximate = set(APPROXIMATE) <= set(first.metadata or {})
    form = first.field("window_start").type if "window_start" in first.names else NULL
    return Result(answers, columns, form, approximate, status.metrics)
