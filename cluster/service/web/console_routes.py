"""Routes of the console: its files, log-ins, and what its pages show besides the replies of other routes."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from elsinore.cluster.service.console.pages import INDEX, PROTECTION, page_files
from elsinore.cluster.service.settings import token_of
from elsinore.cluster.service.web.context import check_no_form, context
from elsinore.cluster.service.web.logins import Logins, ended
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.cluster.service.web.sites import Authority, authority

router = APIRouter(include_in_schema=False)


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
    """Return 204 to who may use the service; the others have got 401."""
    return Response(status_code=204)


@router.post("/console/login", status_code=204)
async def log_in(request: Request) -> Response:
    """Give a browser that has sent the token, in the header that clients send it in, the cookie of a log-in."""
    check_no_form(request)
    token = token_of(context(request).settings)
    if token is None:
        return Response(status_code=204)
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
