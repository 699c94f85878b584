"""Routes that take events, and return rows, decisions and statistics."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

import pyarrow as pa
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from elsinore.calendar_years import rows_as_python
from elsinore.cluster.service.intake import ARROW, MEDIA_TYPES, Append, accept
from elsinore.cluster.service.jobs import workload_of
from elsinore.cluster.service.rows import Cursor, Reader, RowsPage
from elsinore.cluster.service.web.context import Context, body_of, context, in_thread, key_of, media_type
from elsinore.cluster.service.web.documents import ZERO_METRICS, AppendDocument, Decisions, RowsDocument, Statistics
from elsinore.cluster.service.web.job_routes import KEY_HEADER
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.connectors.rows.row_tables import columns_of
from elsinore.connectors.wire.inflating import CODINGS, inflated
from elsinore.connectors.wire.raw import BodyTooLargeError, UnreadableBodyError

router = APIRouter(prefix="/v1/workloads/{name}", tags=["events and rows"])

POLL_SECONDS = 0.05
"""Seconds between two polls for new rows."""

HEARTBEAT_SECONDS = 5.0
"""Seconds without rows after which a stream sends an empty line."""

PAGE_ROWS = 1000

EVENTS_BODY = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA_TYPES},
    }
}
ARROW_TOO: dict[int | str, Any] = {200: {"content": {ARROW: {"schema": {"type": "string", "format": "binary"}}}}}
CURSOR = Query(default=None, max_length=64, description="the `next` of an earlier page; by default the beginning")


@router.post("/events", status_code=202, response_model=AppendDocument, openapi_extra={**EVENTS_BODY, **KEY_HEADER})
async def append_events(request: Request, name: str) -> Response:
    """Append events, and reply when they are safe on disk. A retry with the same Idempotency-Key changes nothing."""
    here = context(request)
    job = here.jobs.get(name)
    kind, coding, key = _media_type(request), _coding(request), key_of(request)
    here.backlog.check(job)
    with here.room.reserve() as more:
        body = await body_of(request, here.settings.body, here.settings, more)
        async with here.appends:
            taken = await in_thread(_accept, here, name, body, coding, kind, key)
    return JSONResponse({"events": taken.events, "repeated": taken.repeated}, status_code=202)


def _accept(here: Context, name: str, body: bytes, coding: str | None, media_type: str, key: str | None) -> Any:
    try:
        plain = body if coding is None else inflated(body, coding, here.settings.unpacked)
        if len(plain) > here.settings.unpacked:
            raise BodyTooLargeError(
                f"the body has more than {here.settings.unpacked:,} bytes; split it into several requests"
            )
        return accept(here.jobs.get(name), Append(plain, media_type, key), here.settings)
    except UnreadableBodyError as error:
        raise RefusalError(400, str(error), kind="unreadable") from None
    except BodyTooLargeError as error:
        raise RefusalError(413, str(error), kind="input") from None


def _media_type(request: Request) -> str:
    found = media_type(request)
    if found is None or found not in MEDIA_TYPES:
        raise RefusalError(415, f"the Content-Type of events must be one of {', '.join(MEDIA_TYPES)}")
    return found


def _coding(request: Request) -> str | None:
    found = request.headers.get("content-encoding", "identity").strip().lower()
    if found == "identity":
        return None
    if found not in CODINGS:
        raise RefusalError(415, f"the Content-Encoding must be {' or '.join(CODINGS)}, or none")
    return found


@router.get("/results", response_model=RowsDocument, responses=ARROW_TOO)
async def get_results(
    request: Request,
    name: str,
    after: str | None = CURSOR,
    limit: int = Query(default=PAGE_ROWS, ge=1, description="most rows of the page; the service may return fewer"),
    wait: float = Query(default=0, ge=0, le=30, description="seconds to wait for the first row"),
) -> Response:
    """Return the rows after a cursor, in the order in which they were written."""
    here = context(request)
    reader, cursor = here.reader(name), Cursor.read(after)
    page = await _awaited(reader, cursor, min(limit, here.settings.page), monotonic() + wait)
    if _wants_arrow(request):
        content = await in_thread(_arrow, reader, page)
        return Response(content, media_type=ARROW, headers={"Elsinore-Next": str(page.next)})
    return Response(
        await in_thread(page.json), media_type="application/json", headers={"Elsinore-Next": str(page.next)}
    )


async def _awaited(reader: Reader, cursor: Cursor, limit: int, end: float) -> RowsPage:
    """Poll for the next page that has rows; return an empty one when the time is over."""
    while True:
        since = reader.touched()
        page = await in_thread(reader.page, cursor, limit)
        if len(page) or monotonic() >= end:
            return page
        await asyncio.sleep(POLL_SECONDS)
        while reader.quiet(since) and monotonic() < end:
            await asyncio.sleep(POLL_SECONDS)


def _arrow(reader: Reader, page: RowsPage) -> bytes:
    return page.arrow(columns_of(workload_of(reader.job.spec().workload)))


def _wants_arrow(request: Request) -> bool:
    return ARROW in request.headers.get("accept", "").lower()


LINES: dict[int | str, Any] = {200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}}


@router.get("/results/stream", response_class=StreamingResponse, responses=LINES)
async def follow_results(request: Request, name: str, after: str | None = CURSOR) -> Response:
    """Stream rows as they are written, one line of JSON each, without an end; without rows, send empty lines."""
    here = context(request)
    reader, cursor = here.reader(name), Cursor.read(after)
    lines = _lines(reader, cursor, here.settings.page)
    return StreamingResponse(lines, media_type="application/x-ndjson")


async def _lines(reader: Reader, cursor: Cursor, limit: int) -> AsyncIterator[str]:
    yield "\n"
    while True:
        try:
            page = await _awaited(reader, cursor, limit, monotonic() + HEARTBEAT_SECONDS)
        except RefusalError:  # the job is gone
            return
        yield await in_thread(_numbered, page) if len(page) else "\n"
        cursor = page.next


def _numbered(page: RowsPage) -> str:
    """Return a line of JSON for each row, with the cursor behind it."""
    numbered = zip(page.cursors(), page.lines(), strict=True)
    return "".join(f'{{"cursor": "{at}", "row": {line}}}\n' for at, line in numbered)


@router.get("/decisions", response_model=Decisions, responses=ARROW_TOO)
async def get_decisions(
    request: Request, name: str, limit: int = Query(default=100, ge=1, description="most decisions, the last ones")
) -> Response:
    """Return the decisions about the last bursts."""
    found = (await _decided(request, name)).slice(0)
    found = found.slice(max(0, found.num_rows - limit))
    if _wants_arrow(request):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, found.schema) as writer:
            writer.write_table(found)
        return Response(sink.getvalue().to_pybytes(), media_type=ARROW)
    content = json.dumps({"decisions": rows_as_python(found)}, default=str)
    return Response(content, media_type="application/json")


@router.get("/statistics", response_model=Statistics)
async def get_statistics(request: Request, name: str) -> Response:
    """Return the counters of a job, its events by type, and its bursts by Kleene sub-pattern."""
    here = context(request)
    job = here.jobs.get(name)
    bursts: dict[str, dict[str, int]] = {}
    for row in (await _decided(request, name)).select(["kleene", "events", "choice"]).to_pylist():
        of = bursts.setdefault(row["kleene"], {"bursts": 0, "events": 0, "shared": 0})
        of["bursts"] += 1
        of["events"] += row["events"]
        of["shared"] += row["choice"] != "apart"
    status = job.status()
    counters, types = {**ZERO_METRICS, **status.get("metrics", {})}, status.get("types", {})
    return JSONResponse({"counters": counters, "types": types, "bursts": bursts})


async def _decided(request: Request, name: str) -> pa.Table:
    """Return the decisions of all graph actors, by time."""
    here = context(request)
    parts = await here.control.ask("decisions", here.jobs.get(name).name)
    if not parts:
        return pa.table({"kleene": pa.array([], pa.string()), "events": pa.array([], pa.int64()), "choice": []})
    return pa.concat_tables(parts, promote_options="permissive").sort_by("time")
