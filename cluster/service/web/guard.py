"""Check the site, token, rate and size of a request before its body is read."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

from elsinore.cluster.service.settings import ServiceSettings, token_of
from elsinore.cluster.service.web.logins import Logins
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.cluster.service.web.sites import authority, check_site, hosts_of

OPEN_PATHS = ("/v1/health", "/v1/ready")
"""Paths of health checks, which need no token."""

CONSOLE_PATH = re.compile(r"/|/console/?|/console/static/.*")
"""Matches paths of the files of the console, which need no token."""

SAFE_METHODS = ("GET", "HEAD")
"""Methods that change nothing."""

JOB_PATH = re.compile(r"/(?:v1/workloads|console/jobs)/([^/]+)")
"""Matches the beginning of a path that names a job."""

UPDATES_PATH = "/console/updates"
"""The path of the streams for pages, which are bounded together like the requests about a job."""

MAX_HEADER_BYTES = 1 << 16
"""The most bytes of all headers."""

FAILURES_PER_SECOND = 20
"""Requests a second with a wrong token or none that a replica answers with 401; it answers the rest with 429."""

POLICY_VIOLATION = 1008
"""The code with which web sockets are closed (RFC 6455): the service has none."""

LENGTH_SLACK_BYTES = 1 << 16
"""Bytes by which Content-Length may exceed the limit of a body here; `body_of` applies the exact limit."""


@dataclass
class RateLimit:
    """A token bucket that gains `limit` tokens a second, up to `limit`; each request takes one."""

    limit: int
    left: float = 0.0
    looked: float = 0.0

    def allows(self, now: float) -> bool:
        self.left = min(self.limit, self.left + (now - self.looked) * self.limit)
        self.looked = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Guard:
    """An ASGI middleware of the application that refuses requests before they are read."""

    def __init__(self, app: Any, settings: ServiceSettings) -> None:
        self.app = app
        self.settings = settings
        token = token_of(settings)
        self.token = None if token is None else token.encode()
        self.logins = None if token is None else Logins(token.encode())
        self.hosts = hosts_of(settings.host, settings.hosts)
        self.rate = RateLimit(settings.rate, left=settings.rate, looked=monotonic())
        self.files = RateLimit(settings.rate, left=settings.rate, looked=monotonic())
        self.failures = RateLimit(FAILURES_PER_SECOND, left=FAILURES_PER_SECOND, looked=monotonic())
        self.open = 0
        self.open_of: Counter[str] = Counter()
        """The open requests about each job that has any."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        try:
            check_site(scope["headers"], self.hosts)
            if scope["path"] not in OPEN_PATHS:
                self._check(scope)
        except RefusalError as error:
            await refuse(error, send)
            return
        if scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        with self._counted(_job_of(scope)):
            await self.app(scope, receive, send)

    @contextmanager
    def _counted(self, job: str) -> Iterator[None]:
        """Count a request as open during the block."""
        self.open += 1
        self.open_of[job] += 1
        try:
            yield
        finally:
            self.open -= 1
            self.open_of[job] -= 1
            if not self.open_of[job]:
                del self.open_of[job]

    def _check(self, scope: Any) -> None:
        headers = scope["headers"]
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
            raise RefusalError(431, f"the headers have more than {MAX_HEADER_BYTES:,} bytes")
        is_file = CONSOLE_PATH.fullmatch(scope["path"])
        if not is_file:
            self._check_token(scope)
        # Requests that need no token have a limit of their own, so they keep no client out.
        if not (self.files if is_file else self.rate).allows(monotonic()):
            raise RefusalError(429, f"more than {self.settings.rate:,} requests a second; try again in a moment")
        if self.open >= self.settings.requests:
            raise RefusalError(429, f"{self.open:,} requests are open already; try again in a moment")
        if (job := _job_of(scope)) and self.open_of[job] >= self.settings.job_requests:
            raise RefusalError(
                429, f"{self.open_of[job]:,} requests about {_called(job)} are open already; try again in a moment"
            )
        length = next((value for name, value in headers if name == b"content-length"), b"0")
        if length.isdigit() and int(length) > self.settings.body + LENGTH_SLACK_BYTES:
            raise too_large(self.settings)

    def _check_token(self, scope: Any) -> None:
        if self.token is None:
            return
        shown = _values_of(scope, b"authorization")
        if not shown:
            self._check_login(scope)
        elif not _is_token(shown, self.token):
            raise self._failed("this is not the token of the service")

    def _check_login(self, scope: Any) -> None:
        """Refuse a request without the cookie of a log-in, and one that would change something for no page at all."""
        asked = authority(_values_of(scope, b"host")[0])
        assert self.logins is not None
        assert asked is not None  # `check_site` has read it
        if not self.logins.holds(asked, _values_of(scope, b"cookie")):
            raise self._failed("this service requires a token: send the header Authorization: Bearer TOKEN")
        if scope["method"] not in SAFE_METHODS and not _values_of(scope, b"origin"):
            raise RefusalError(403, "a change by a logged-in browser must have the header Origin", kind="site")

    def _failed(self, detail: str) -> RefusalError:
        """Return the refusal of a request without the token.

        Such requests have a rate limit of their own, so guessing keeps no client out.
        """
        if not self.failures.allows(monotonic()):
            return RefusalError(
                429, f"more than {FAILURES_PER_SECOND} requests a second without the token; try again in a moment"
            )
        return RefusalError(401, detail)


def _is_token(shown: list[bytes], token: bytes) -> bool:
    """Return whether the headers Authorization of a request are one, with this token."""
    kind, _, given = shown[0].partition(b" ")
    return len(shown) == 1 and kind.lower() == b"bearer" and hmac.compare_digest(given.strip(), token)


def _values_of(scope: Any, header: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == header]


def _job_of(scope: Any) -> str:
    """Return the name of the job in the path of a request, or the path of updates; empty for any other path."""
    found = JOB_PATH.match(scope["path"])
    if scope["path"] == UPDATES_PATH:
        return UPDATES_PATH
    return found[1] if found else ""


def _called(job: str) -> str:
    return "the console's pages" if job == UPDATES_PATH else "this job"


def too_large(settings: ServiceSettings) -> RefusalError:
    return RefusalError(413, f"the body has more than {settings.body:,} bytes; split it into several requests")


async def refuse(error: RefusalError, send: Any) -> None:
    headers = {"Content-Type": "application/problem+json", **error.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    body = error.body
    encoded.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": error.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
