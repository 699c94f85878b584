"""The HTTP of both shells: the service's address and token, and the conversion of requests and responses."""

from __future__ import annotations

import re
from time import monotonic
from typing import Any

import httpx2

from elsinore._version import __version__
from elsinore.client.exchange import NoResponse, Request, Response
from elsinore.errors import InputError
from elsinore.tokens import find, loopback

HOST = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9A-Fa-f:.]+")
DEFAULT_PORTS = {"http": 80, "https": 443}

CONNECT_SECONDS = 5.0
RESPONSE_SECONDS = 30.0
"""Seconds that a response may take, in addition to `Request.wait`."""


def options(url: str, token: str | None) -> dict[str, Any]:
    """Return the options of an HTTP client; without a token, use the one that a service on this machine has made.

    All options derive from one parsed URL: comparing the scheme in a spelling other than the one in use could turn
    verification off. Redirects are not followed, so no other origin ever receives the token.
    """
    base = address(url)
    if token is None:
        base, token = _with_token(base)
    headers = {"User-Agent": f"elsinore/{__version__}"}
    if token is not None:
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise InputError("a token must consist of printable ASCII characters")
        headers["Authorization"] = f"Bearer {token.strip()}"
    return {
        "base_url": base,
        "headers": headers,
        # Without TLS there is nothing to verify, and loading certificates takes a third of a second.
        "verify": base.scheme == "https",
        "follow_redirects": False,
        # Requests to this machine do not use a proxy, which would receive the token.
        "trust_env": not loopback(base.host),
    }


def address(url: str) -> httpx2.URL:
    """Return the service's URL in its normal form; raise InputError if it is not a URL of a service."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise InputError(f"{_shown(url)} is not a URL: {error}") from None
    if parsed.scheme not in ("http", "https") or not HOST.fullmatch(parsed.raw_host):
        raise InputError(f"{_shown(url)} is not the URL of a service; write it as http://localhost:8000")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise InputError(
            f"{_shown(url)} is not the URL of a service: leave out user, password, query and fragment; "
            "give the token with token=…, --token or ELSINORE_TOKEN"
        )
    return parsed.copy_with(path=parsed.path.rstrip("/"))


def _with_token(base: httpx2.URL) -> tuple[httpx2.URL, str | None]:
    """Return the URL of the loopback address that has a token of this user's service, and the token.

    The name localhost stands for two addresses, and another user's service may listen at the other one.
    """
    found = find(base.host, base.port or DEFAULT_PORTS[base.scheme])
    if found is None:
        return base, None
    return (base.copy_with(host=found.address) if base.scheme == "http" else base), found.token


def _shown(url: str) -> str:
    """Return a URL for a message, without a password."""
    return repr(re.sub(r"//.*@", "//…@", url))


def asked(request: Request) -> dict[str, Any]:
    """Return the arguments for the HTTP client's `request`."""
    return {
        "method": request.method,
        "url": request.path,
        "params": dict(request.params),
        "headers": dict(request.headers),
        "content": request.body or None,
        "timeout": httpx2.Timeout(RESPONSE_SECONDS + request.wait, connect=CONNECT_SECONDS),
    }


def response(answer: httpx2.Response) -> Response:
    return Response(answer.status_code, answer.headers, answer.content)


def silence(error: httpx2.RequestError, started_at: float) -> NoResponse:
    return NoResponse(f"{type(error).__name__}{f': {error}' if str(error) else ''}", monotonic() - started_at)
