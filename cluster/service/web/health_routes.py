"""Routes for health checks."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from elsinore.cluster.service.control import away
from elsinore.cluster.service.web.context import context
from elsinore.cluster.service.web.documents import Health
from elsinore.cluster.service.web.refusals import RefusalError

router = APIRouter(prefix="/v1", tags=["health"])


@router.get("/health", response_model=Health)
async def health() -> Response:
    """Return 200 if this process is alive."""
    return JSONResponse({"status": "alive"})


@router.get("/ready", response_model=Health)
async def ready(request: Request) -> Response:
    """Return 200 if Spark and the manager are running."""
    manager = context(request).jobs.manager()
    if manager is None:
        raise away()
    if not manager["spark"]:
        raise RefusalError(503, "Spark is starting; try again in a moment", kind="starting")
    return JSONResponse({"status": "ready"})
