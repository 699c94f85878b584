"""Routes of the console: its files, log-ins, and what its pages show besides the replies of other routes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse, StreamingResponse

from elsinore.cluster.service.console import workbench
from elsinore.cluster.service.console.bursts_view import BurstsView
from elsinore.cluster.service.console.jobs_view import JobsView
from elsinore.cluster.service.console.pages import INDEX, PROTECTION, page_files
from elsinore.cluster.service.console.updates import Message, Part, Position, updates
from elsinore.cluster.service.history import entries_of
from elsinore.cluster.service.rows import Cursor, Reader
from elsinore.cluster.service.settings import token_of
from elsinore.cluster.service.web.context import (
    Context,
    body_of,
    check_json,
    check_no_form,
    context,
    in_thread,
    read_document,
)
from elsinore.cluster.service.web.documents import Draft, Question
from elsinore.cluster.service.web.job_routes import DOCUMENT_BYTES, documents_of
from elsinore.cluster.service.web.logins import Logins, ended
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.cluster.service.web.sites import Authority, authority
from elsinore.planner.plans.planning import STRATEGIES

D = TypeVar("D", bound=Draft)

router = APIRouter(include_in_schema=False)

MAX_ROWS = 500
"""Rows of a message; of more than that, a page gets the last ones."""

FIRST_ROWS = 100
"""Rows that a page gets when it opens."""

MAX_DRAFTS = 16
"""Open requests to the process of the workbench; each may hold a body of some MiB, and take 20 seconds."""

UNREAD = -1
"""A modification time that no folder has."""


@dataclass
class Views:
    """What the pages of all browsers share."""

    jobs: JobsView
    bursts: dict[str, BurstsView] = field(default_factory=dict)

    def bursts_of(self, job: str, most: int) -> BurstsView:
        if job not in self.bursts and len(self.bursts) >= most:
            self.bursts.clear()
        return self.bursts.setdefault(job, BurstsView())


def documents_with_history(here: Context) -> list[dict[str, Any]]:
    """Return the documents of all jobs, each with the time at which its history changed, as text: it has 19 digits."""
    times = {job.name: str(job.history_time()) for job in here.jobs.all()}
    return [{**document, "history": times.get(document["id"], "0")} for document in documents_of(here)]


@router.get("/")
@router.get("/console")
async def go_to_console() -> Response:
    return RedirectResponse("/console/", 307, headers=PROTECTION)


@router.get("/console/")
async def get_index(request: Request) -> Response:
    return _file(request, INDEX)


@router.get("/console/static/{path:path}")
async def get_file(request: Request, path: str) -> Response:
    return _file(request, path)


def _file(request: Request, path: str) -> Response:
    found = page_files().get(path)
    if found is None:
        raise RefusalError(404, "the console has no such file")
    headers = {**PROTECTION, "Cache-Control": "no-cache", "ETag": found.tag, "Vary": "Accept-Encoding"}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.plain, media_type=found.media_type, headers=headers)


@router.get("/console/login", status_code=204)
async def is_logged_in() -> Response:
    """Return 204 to a browser that is logged in; any other has got 401 before."""
    return Response(status_code=204)


@router.post("/console/login", status_code=204)
async def log_in(request: Request) -> Response:
    """Give a browser that has sent the token, in the header that clients send it in, the cookie of a log-in."""
    check_no_form(request)
    token = token_of(context(request).settings)
    if token is None:
        return Response(status_code=204)
    if "authorization" not in request.headers:  # a cookie does not prolong itself
        raise RefusalError(401, "a log-in needs the token: send the header Authorization: Bearer TOKEN")
    cookie = Logins(token.encode()).cookie(_asked(request), _is_secure(request))
    return Response(status_code=204, headers={"Set-Cookie": cookie, "Cache-Control": "no-store"})


@router.delete("/console/login", status_code=204)
async def log_out(request: Request) -> Response:
    check_no_form(request)
    return Response(status_code=204, headers={"Set-Cookie": ended(_asked(request), _is_secure(request))})


def _asked(request: Request) -> Authority:
    found = authority(request.headers["host"].encode("latin-1"))
    assert found is not None  # the guard has read it
    return found


def _is_secure(request: Request) -> bool:
    """Return whether the browser speaks TLS, be it with a proxy in front of the service."""
    return request.headers.get("origin", "").startswith("https:")


@router.get("/console/updates", response_class=StreamingResponse)
async def follow(
    request: Request,
    job: str | None = None,
    last: str | None = Query(default=None, max_length=128, description="the last position of a page that was asleep"),
    show: str | None = Query(default=None, pattern="^(rows|bursts)$", description="what of the job, besides its state"),
) -> Response:
    """Stream what a page shows: all jobs, and the rows or bursts of one."""
    here, views = context(request), request.app.state.views
    parts: list[Part] = [lambda position: _jobs(views.jobs, position)]
    if job is not None and show == "rows":
        parts.append(RowsPart(here.reader(job)).next)
    elif job is not None and show == "bursts":
        parts.append(BurstsPart(here, here.jobs.get(job).name, views).next)
    position = Position.read(request.headers.get("last-event-id") or last)
    headers = {**PROTECTION, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(updates(parts, position), media_type="text/event-stream", headers=headers)


async def _jobs(view: JobsView, position: Position) -> Message | None:
    await view.look()
    found = view.since(position.jobs)
    if not (found["all"] or found["jobs"] or found["gone"]):
        return None
    return Message("jobs", json.dumps(found), replace(position, jobs=view.number))


class RowsPart:
    """The rows of a job as they are written; of very many, the last ones."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._touched = UNREAD

    async def next(self, position: Position) -> Message | None:
        if self._reader.quiet(self._touched):
            return None
        self._touched = self._reader.touched()
        try:
            skipped, lines, cursor = await in_thread(self._read, position.rows)
        except RefusalError:  # the job was removed
            return None
        if not lines and position.rows is not None:
            return None
        data = f'{{"skipped": {json.dumps(skipped)}, "rows": [{", ".join(lines)}]}}'
        return Message("rows", data, replace(position, rows=str(cursor)))

    def _read(self, after: str | None) -> tuple[bool, list[str], Cursor]:
        """Return whether rows were skipped, rows as JSON with every digit, and the cursor behind them."""
        reader = self._reader
        cursor = Cursor.read(after) if after is not None else reader.before_last(FIRST_ROWS)
        page, skipped = reader.page(cursor, MAX_ROWS), False
        if len(page) == MAX_ROWS:
            last = reader.before_last(MAX_ROWS)
            if last > page.next:
                page, skipped = reader.page(last, MAX_ROWS), True
        return skipped, list(page.lines()), page.next


class BurstsPart:
    """The bursts of a job, with the decision about each."""

    def __init__(self, here: Context, job: str, views: Views) -> None:
        self._here, self._job, self._views = here, job, views

    async def next(self, position: Position) -> Message | None:
        view = self._views.bursts_of(self._job, self._here.settings.workloads)
        try:
            await view.look(self._ask)
        except RefusalError:  # the manager or an actor is being replaced
            return None
        number, bursts = view.since(position.bursts)
        if not bursts and position.bursts is not None:
            return None
        work = json.dumps(asdict(view.work))
        data = f'{{"work": {work}, "bursts": [{", ".join(bursts)}]}}'
        return Message("bursts", data, replace(position, bursts=number))

    async def _ask(self) -> Sequence[Sequence[Any]]:
        return [await self._here.control.ask(what, self._job) for what in ("decisions", "stored")]


@router.get("/console/jobs/{name}/history")
async def get_history(request: Request, name: str) -> Response:
    """Return what happened to a job, and why, oldest first."""
    entries = await in_thread(entries_of, context(request).jobs.get(name))
    return JSONResponse({"history": entries})


@router.get("/console/jobs/{name}/plan")
async def get_plan(request: Request, name: str) -> Response:
    """Return the plan of a job as text and pictures."""
    here = context(request)
    spec = here.jobs.get(name).spec()
    return JSONResponse(await _answer(here, "draw", here.settings.planning, spec.workload, spec.strategy))


@router.post("/console/check")
async def check_draft(request: Request) -> Response:
    """Return all problems of a workload with their places; the plan if there are none."""
    here, draft = await _draft(request, Draft)
    try:
        found = await _answer(here, "check", here.settings.planning, draft.workload, draft.strategy)
    except RefusalError as error:
        if error.status != 422:
            raise
        document = error.document
        return JSONResponse({"problems": document.get("problems") or [{"message": document["detail"], "hint": ""}]})
    return JSONResponse({"problems": [], **found})


@router.post("/console/try")
async def try_draft(request: Request) -> Response:
    """Return the rows of a workload over a few events, which are JSON lines or CSV."""
    here, draft = await _draft(request, Draft)
    suffix = await in_thread(workbench.suffix_of, draft.events)
    arguments = (draft.workload, draft.strategy, draft.events, suffix)
    return JSONResponse(await _answer(here, "try", workbench.RUN_SECONDS, *arguments))


@router.post("/console/why")
async def explain_no_row(request: Request) -> Response:
    """Return why a query of a workload has no row over a few events."""
    here, asked = await _draft(request, Question)
    suffix = await in_thread(workbench.suffix_of, asked.events)
    arguments = (asked.workload, asked.events, suffix, asked.query)
    return JSONResponse(await _answer(here, "why", workbench.WHY_SECONDS, *arguments))


async def _draft(request: Request, form: type[D]) -> tuple[Context, D]:
    here = context(request)
    check_json(request)
    most = 4 * (here.settings.workload_text + workbench.MAX_EVENTS_LENGTH) + DOCUMENT_BYTES
    with here.room.reserve() as more:
        draft = read_document(await body_of(request, most, here.settings, more), form)
    if draft.strategy not in STRATEGIES:
        raise RefusalError(422, f"there is no strategy of this name; there is {', '.join(STRATEGIES)}", kind="input")
    if len(draft.workload) > here.settings.workload_text:
        raise RefusalError(413, f"the workload has more than {here.settings.workload_text:,} characters", kind="input")
    return here, draft


async def _answer(here: Context, kind: str, seconds: float, *arguments: str) -> dict[str, Any]:
    """Ask the process of the workbench, one request at a time; refuse a request behind which too many wait."""
    if here.drafts_open >= MAX_DRAFTS:
        raise RefusalError(429, f"{here.drafts_open} requests to the workbench are open already; try again in a moment")
    here.drafts_open += 1
    try:
        async with here.drafts:
            return await in_thread(workbench.ask, kind, seconds, *arguments)
    finally:
        here.drafts_open -= 1
