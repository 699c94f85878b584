"""What both shells need to know of HTTP: where the service is, and how its answers look to a call."""

from __future__ import annotations

from time import monotonic
from typing import Any

import httpx2

from elsinore._version import __version__
from elsinore.client.exchange import Request, Response, Silence
from elsinore.errors import InputError

CONNECT = 5.0
ANSWER = 30.0
"""Seconds that an answer may take, beyond those for which it was to be held back."""


def options(url: str, token: str | None) -> dict[str, Any]:
    """Of an HTTP client."""
    headers = {"User-Agent": f"elsinore/{__version__}"}
    if token is not None:
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise InputError("a token is made of printable ASCII characters")
        headers["Authorization"] = f"Bearer {token}"
    # Without TLS nothing is verified, and reading certificates takes a third of a second.
    return {"base_url": address(url), "headers": headers, "verify": url.startswith("https")}


def address(url: str) -> str:
    """The service's URL, if it can be one."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise InputError(f"{url!r} is no URL: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InputError(f"{url!r} is no URL of a service; it looks like http://localhost:8000")
    return url.rstrip("/")


def asked(request: Request) -> dict[str, Any]:
    """The request as the HTTP client takes it."""
    return {
        "method": request.method,
        "url": request.path,
        "params": dict(request.params),
        "headers": dict(request.headers),
        "content": request.body or None,
        "timeout": httpx2.Timeout(ANSWER + request.wait, connect=CONNECT),
    }


def response(answer: httpx2.Response) -> Response:
    return Response(answer.status_code, answer.headers, answer.content)


def silence(error: httpx2.RequestError, begun: float) -> Silence:
    return Silence(f"{type(error).__name__}{f': {error}' if str(error) else ''}", monotonic() - begun)
