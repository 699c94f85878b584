"""Where Serve meets the network: what has to be changed in it, because it cannot be set.

Uvicorn waits for requests for as long as they take to come, however large they become; and a proxy that does not know
of the service yet says that there is no such thing. Serve's proxies import `middlewares` by the environment variable
`CALLBACK`, which has to be set where they run.
"""

from __future__ import annotations

import os
import resource
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from time import monotonic
from typing import Any

from ray.serve._private import replica
from starlette.middleware import Middleware
from uvicorn.protocols.http import auto
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from elsinore.cluster.service.settings import LOOPBACK
from elsinore.cluster.service.web.guard import HEADERS, POLICY_VIOLATION, refuse
from elsinore.cluster.service.web.refusals import TITLES, RefusedError
from elsinore.cluster.service.web.sites import Hosts, check_site, hosts_of

CALLBACK = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
IMPORT_PATH = "elsinore.cluster.service.web.edge:middlewares"

LISTENS_AT, ASKED_AS = "ELSINORE_SERVICE_HOST", "ELSINORE_SERVICE_HOSTS"
"""Settings that a proxy takes from its environment; on a cluster Serve listens where its own options say."""

PROBLEM = b"application/problem+json"

HEAD_SECONDS = 15.0
"""That the head of a request may take, from its first byte or from the beginning of the connection."""

BODY_SECONDS = 30.0
"""That a body may pause, where it is waited for; a slow one goes on."""

REST_SECONDS = 30.0
"""That the rest of a request may take which has been answered already."""

FRAMING = 1 << 16
"""Bytes of a chunked body that are none of its content: extensions of chunks, and trailers."""

CHUNK_FRAMING = 32
"""Bytes that each chunk may have beside."""

CONNECTIONS = 1000
"""Connections of a proxy, at most."""


def connections_limit() -> int:
    """Return how many connections a proxy has at most: it needs files of its own, too."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS if files == resource.RLIM_INFINITY else min(CONNECTIONS, max(1, files // 2))


class BoundedProtocol(HttpToolsProtocol):
    """Bounds what a client may send, and how long it may take, before anybody has asked for its token.

    A connection waits for a head, or is in a body, or waits for an answer. One timer watches it: in a head for the time
    since the head began, in a body for progress.
    """

    _timer: TimerHandle | None = None
    _in_message = False
    """Whether a head has come whose body has not; if not, the next bytes belong to a head, or to nothing yet."""
    _head = 0
    """Bytes of a head that has no end yet."""
    _framing = 0
    """Bytes of a chunked body that are none of its content."""
    _moved = False
    """Whether content came since the timer looked last."""
    _since = 0.0
    """When the connection began to wait for a request."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = monotonic()
        self._watch(HEAD_SECONDS, self._head_is_late)
        if len(self.connections) > connections_limit() and not self._make_room():
            self._refuse(503, "too many connections are open; try again in a moment")

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch(None)
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        was_in_message = self._in_message
        if was_in_message:
            self._framing += len(data)
        else:
            self._head += len(data)  # until the head has an end
            if self._timer is None:
                self._watch(HEAD_SECONDS, self._head_is_late)
        super().data_received(data)
        if self._head > 2 * HEADERS:
            self._refuse(431, f"the headers are more than {HEADERS:,} bytes")
        if was_in_message and self._in_message and self._framing > FRAMING:
            self._refuse(431, f"trailers and extensions of chunks are more than {FRAMING:,} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_message:  # a trailer is no header: what has been looked at stays as it was
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_message = True
        self._head = self._framing = 0
        self._moved = False
        super().on_headers_complete()
        self._watch(BODY_SECONDS, self._body_is_late)

    def on_chunk_header(self) -> None:
        self._framing = max(0, self._framing - CHUNK_FRAMING)

    def on_body(self, body: bytes) -> None:
        self._framing = max(0, self._framing - len(body))
        self._moved = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        self._watch(None if self._answering else HEAD_SECONDS, self._head_is_late)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._since = monotonic()
        super().on_response_complete()
        if self._in_message:
            self._watch(REST_SECONDS, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _should_upgrade_to_ws(self) -> bool:
        """The service has no web sockets, which know none of these bounds."""
        return False

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self, seconds: float | None, late: Callable[[], object] = lambda: None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, late)

    def _head_is_late(self) -> None:
        if self._answering:  # the one before; its client may send the next one meanwhile
            self._watch(HEAD_SECONDS, self._head_is_late)
        elif not self._head:
            self.transport.close()
        else:
            self._refuse(408, f"the head of the request did not come within {HEAD_SECONDS:g} seconds")

    def _body_is_late(self) -> None:
        waited_for = not (self.flow.read_paused or self.cycle.waiting_for_100_continue)
        if waited_for and not self._moved:
            self._refuse(408, f"nothing of the body came for {BODY_SECONDS:g} seconds")
        else:
            self._moved = False
            self._watch(BODY_SECONDS, self._body_is_late)

    def _make_room(self) -> bool:
        """Close the connection that has waited longest for a request, other than this one."""
        idle = [
            other
            for other in self.connections
            if isinstance(other, BoundedProtocol)
            and other is not self
            and not other._answering
            and not other.transport.is_closing()
        ]
        if not idle:
            return False
        min(idle, key=lambda other: other._since).transport.close()
        return True

    def _refuse(self, status: int, detail: str) -> None:
        """Answer, where no answer is under way, and close the connection."""
        self._watch(None)
        answered = self._answering and self.cycle.response_started
        if not answered:
            error = RefusedError(status, detail)
            head = [
                b"HTTP/1.1 %d %s" % (status, TITLES[status].encode()),
                b"content-type: " + PROBLEM,
                b"content-length: %d" % len(error.body),
                b"connection: close",
            ]
            self.transport.write(b"\r\n".join([*head, b"", error.body]))
        if self._answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if answered:  # its client may read nothing, and what is left for it would be kept
            self.transport.abort()
        else:
            self.transport.close()


class OwnSite:
    """Around a proxy (ASGI): what pages of other sites ask goes no further, whoever would answer it."""

    def __init__(self, app: Any, hosts: Hosts) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        if scope["type"] == "http":
            try:
                check_site(scope["headers"], self.hosts)
            except RefusedError as error:
                await refuse(error, send)
                return
        await self.app(scope, receive, send)


class Starting:
    """Around a proxy (ASGI). What it does not find comes later: the service itself answers with problem documents."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        missing = False

        async def sent(message: Any) -> None:
            nonlocal missing
            if message["type"] == "http.response.start" and message["status"] == 404:
                missing = (b"content-type", PROBLEM) not in message["headers"]
                if missing:
                    await refuse(RefusedError(503, "the service is being started", kind="starting"), send)
            if not missing:
                await send(message)

        await self.app(scope, receive, sent)


def middlewares() -> list[Any]:
    """Serve's server is made later, and takes the protocol from where this puts it."""
    auto.AutoHTTPProtocol = BoundedProtocol
    hosts = hosts_of(os.environ.get(LISTENS_AT) or "0.0.0.0", os.environ.get(ASKED_AS))
    return [Middleware(OwnSite, hosts=hosts), Middleware(Starting)]


def listen_here_alone() -> None:
    """A replica has a port for other deployments, which takes pickles, at all addresses: here, at the loopback's."""
    module: Any = replica
    add = module.add_port_to_grpc_server
    module.add_port_to_grpc_server = lambda server, address: add(server, address.replace("[::]", LOOPBACK))
