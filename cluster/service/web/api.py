"""Build the application: routes, refusals as problem documents, and the OpenAPI document."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from elsinore import __version__
from elsinore.cluster.service.console.jobs_view import JobsView
from elsinore.cluster.service.control import Control
from elsinore.cluster.service.intake import Backlog
from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web import console_routes, health_routes, job_routes, stream_routes
from elsinore.cluster.service.web.console_routes import Views, documents_with_history
from elsinore.cluster.service.web.context import MAX_BODIES, BodyMemory, Context, message_of
from elsinore.cluster.service.web.documents import ProblemDocument, Queries, Submission
from elsinore.cluster.service.web.guard import Guard
from elsinore.cluster.service.web.refusals import TITLES, RefusalError, refusal

LOG = logging.getLogger("elsinore.service")

REFUSALS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 431, 503)
PROBLEM = "application/problem+json"


def build(settings: ServiceSettings, control: Control) -> FastAPI:
    app = FastAPI(title="Elsinore", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    here = app.state.context = Context(
        settings,
        Jobs(settings.data),
        control,
        BodyMemory(MAX_BODIES * settings.body),
        asyncio.Semaphore(settings.appends),
        asyncio.Semaphore(1),
        Backlog(settings),
    )
    app.state.views = Views(JobsView(lambda: documents_with_history(here)))
    for routes in (health_routes, job_routes, stream_routes, console_routes):
        app.include_router(routes.router)
    app.add_middleware(Guard, settings=settings)
    app.add_exception_handler(RefusalError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _mistake)
    document: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not document:
            document.update(_described(app))
        return document

    app.openapi = openapi  # type: ignore[method-assign]
    return app


def _answer(error: RefusalError, more: dict[str, str] | None = None) -> Response:
    headers = {**error.headers, **(more or {})}
    return Response(error.body, status_code=error.status, media_type=PROBLEM, headers=headers)


async def _refused(_: Request, error: Exception) -> Response:
    return _answer(refusal(error))


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _answer(RefusalError(422, "\n".join(map(message_of, error.errors())), kind="input"))


async def _plain(_: Request, error: Exception) -> Response:
    """Return a problem document for what Starlette itself refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    details = {
        404: "there is no such path; /openapi.json lists all paths",
        405: "this path does not support the method; see the header Allow",
    }
    status = error.status_code if error.status_code in TITLES else 400
    allowed = {"Allow": error.headers["Allow"]} if error.headers and "Allow" in error.headers else {}
    return _answer(RefusalError(status, details.get(status, str(error.detail))), allowed)


async def _mistake(request: Request, error: Exception) -> Response:
    LOG.error("unexpected error", extra={"path": request.url.path}, exc_info=error)
    return _answer(refusal(error))


def _described(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, routes=app.routes)
    schemas = found["components"]["schemas"]
    for model in (ProblemDocument, Submission, Queries):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[model.__name__] = schema
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    refused = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
    for path, operations in found["paths"].items():
        for operation in operations.values():
            for status in REFUSALS:
                operation["responses"][str(status)] = {"description": TITLES[status], "content": {PROBLEM: refused}}
            if not path.startswith(("/v1/health", "/v1/ready")):
                operation["security"] = [{"token": []}]
    found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return found
