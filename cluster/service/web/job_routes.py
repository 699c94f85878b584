"""Routes that submit, show, pause, resume, change and remove jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from elsinore.cluster.service.intake import check_readable
from elsinore.cluster.service.jobs import Spec, StoredJob, workload_of
from elsinore.cluster.service.submitting import submit, with_queries, without_query
from elsinore.cluster.service.web.context import (
    Context,
    body_of,
    check_json,
    check_no_form,
    context,
    in_thread,
    key_of,
    read_document,
)
from elsinore.cluster.service.web.documents import (
    JobDocument,
    JobList,
    Queries,
    Submission,
    failed_document,
    job_document,
)
from elsinore.cluster.service.web.refusals import STALE, RefusalError
from elsinore.planner.explain.text import explain
from elsinore.planner.plans.planning import plan

router = APIRouter(prefix="/v1/workloads", tags=["jobs"])

CHANGE_TRIES = 5
"""Attempts to change queries while other requests change them too."""

DOCUMENT_BYTES = 1 << 16
"""The most bytes of a submission besides the workload."""


KEY_HEADER = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "pattern": "^[ -~]{1,128}$", "minLength": 1, "maxLength": 128},
        }
    ]
}


def takes(model: str) -> dict[str, Any]:
    """Return the OpenAPI entry of a body, which FastAPI does not know: bodies are read by hand, within limits."""
    schema = {"$ref": f"#/components/schemas/{model}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}, **KEY_HEADER}


@router.post("", status_code=201, response_model=JobDocument, openapi_extra=takes("Submission"))
async def submit_workload(request: Request) -> Response:
    """Submit a workload as a job, which waits for events."""
    here = context(request)
    check_json(request)
    key, body = key_of(request), await _document(request, here)
    submission = read_document(body, Submission)
    async with here.planning:
        job = await in_thread(submit, here.jobs, submission, key, body, here.settings)
    shown = await in_thread(job_document, job, here.jobs.manager())
    return JSONResponse(shown, status_code=201, headers={"Location": f"/v1/workloads/{job.name}"})


@router.get("", response_model=JobList)
async def list_workloads(request: Request) -> Response:
    """Return all jobs."""
    here = context(request)
    return JSONResponse({"workloads": await in_thread(documents_of, here)})


@router.get("/{name}", response_model=JobDocument)
async def get_workload(request: Request, name: str) -> Response:
    """Return a job with its status."""
    return await _shown(request, name)


@router.delete("/{name}", status_code=204, response_class=Response)
async def remove_workload(request: Request, name: str) -> Response:
    """End a job, and delete all its data."""
    here = context(request)
    check_no_form(request)
    await here.control.ask("remove", here.jobs.get(name).name)
    here.readers.pop(name, None)
    return Response(status_code=204)


@router.post("/{name}/pause", response_model=JobDocument)
async def pause_workload(request: Request, name: str) -> Response:
    """Pause a job: its events are stored, and no rows are computed."""
    here = context(request)
    check_no_form(request)
    await here.control.ask("pause", here.jobs.get(name).name)
    return await _shown(request, name)


@router.post("/{name}/resume", response_model=JobDocument)
async def resume_workload(request: Request, name: str) -> Response:
    """Resume a paused job where it stopped; retry a job that has failed."""
    here = context(request)
    check_no_form(request)
    await here.control.ask("resume", here.jobs.get(name).name)
    return await _shown(request, name)


@router.post("/{name}/queries", response_model=JobDocument, openapi_extra=takes("Queries"))
async def add_queries(request: Request, name: str) -> Response:
    """Add queries, which answer the windows that begin after the latest event; others are not affected."""
    here = context(request)
    job = here.jobs.get(name)
    check_json(request)
    key, body = key_of(request), await _document(request, here)
    submission = read_document(body, Queries)
    async with here.planning:
        await _changed(here, job, lambda: _with(job, submission, key is not None, here))
    return await _shown(request, name)


@router.delete("/{name}/queries/{query}", response_model=JobDocument)
async def remove_query(request: Request, name: str, query: str) -> Response:
    """Remove a query; the other queries are not affected."""
    here = context(request)
    check_no_form(request)
    job = here.jobs.get(name)
    async with here.planning:
        await _changed(here, job, lambda: without_query(job, query, here.settings))
    return await _shown(request, name)


@router.get("/{name}/explain", response_class=PlainTextResponse)
async def explain_workload(request: Request, name: str) -> Response:
    """Return the plan of the workload as text, with the reasons for it."""
    here = context(request)
    job = here.jobs.get(name)
    async with here.planning:
        return PlainTextResponse(await in_thread(_explained, job))


async def _changed(here: Context, job: StoredJob, wanted: Callable[[], Spec | None]) -> None:
    """Have the manager change the queries of a job; compute them anew if another replica changed them meanwhile."""
    for left in reversed(range(CHANGE_TRIES)):
        before = job.spec().workload
        spec = await in_thread(wanted)
        if spec is None:
            return
        try:
            await here.control.ask("change", job.name, spec, before)
        except RefusalError as error:
            if error.kind != STALE or not left:
                raise
        else:
            return


def _with(job: StoredJob, submission: Queries, repeatable: bool, here: Context) -> Spec | None:
    """Return the specification with the added queries, after adding their columns; None if nothing changes.

    The columns are on disk first, because the stream reads them when its queries change.
    """
    spec = with_queries(job, submission, repeatable, here.settings)
    if spec is None:
        return None
    with job.locked():
        before = job.columns()
        columns = {**(submission.columns or {}), **before}
        if before or submission.columns:
            if spec.type_column not in columns or spec.time_column not in columns:
                raise RefusalError(422, "the types of the type and time columns are unknown; give them in columns too")
            check_readable(spec, columns)
        if columns != before:
            job.put_columns(columns)
    return spec


def _explained(job: StoredJob) -> str:
    spec = job.spec()
    return f"{explain(plan(workload_of(spec.workload), spec.strategy))}\n"


async def _shown(request: Request, name: str) -> Response:
    here = context(request)
    return JSONResponse(await in_thread(job_document, here.jobs.get(name), here.jobs.manager()))


def documents_of(here: Context) -> list[dict[str, Any]]:
    """Return the documents of all jobs."""
    manager = here.jobs.manager()
    found = []
    for job in here.jobs.all():
        try:
            found.append(job_document(job, manager))
        except FileNotFoundError:  # it was removed meanwhile
            continue
        except OSError as error:
            found.append(failed_document(job, error))
    return found


async def _document(request: Request, here: Context) -> bytes:
    with here.room.reserve() as more:
        return await body_of(request, 4 * here.settings.workload_text + DOCUMENT_BYTES, here.settings, more)
