"""Change how Serve meets the network, where it has no settings for that.

Uvicorn waits for requests without a limit of time or size. A proxy that does not know of the service yet replies 404.
Serve's proxies import `middlewares` by the environment variable `CALLBACK_VARIABLE`, which has to be set where they
run.
"""

from __future__ import annotations

import os
import resource
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from time import monotonic
from typing import Any

from starlette.middleware import Middleware
from uvicorn.protocols.http import auto
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from elsinore.cluster.service.settings import LOOPBACK
from elsinore.cluster.service.web.guard import MAX_HEADER_BYTES, POLICY_VIOLATION, refuse
from elsinore.cluster.service.web.refusals import TITLES, RefusalError
from elsinore.cluster.service.web.sites import Hosts, check_site, hosts_of
from elsinore.connectors.spark.ray_internals import replica_module

CALLBACK_VARIABLE = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
IMPORT_PATH = "elsinore.cluster.service.web.edge:middlewares"

HOST_VARIABLE, HOSTS_VARIABLE = "ELSINORE_SERVICE_HOST", "ELSINORE_SERVICE_HOSTS"
"""Settings that a proxy takes from its environment; on a cluster Serve listens where its own options say."""

PROBLEM = b"application/problem+json"

HEAD_SECONDS = 15.0
"""Timeout for the head of a request, from its first byte or from the start of the connection."""

BODY_SECONDS = 30.0
"""The longest pause in a body while it is being read; a body that is merely slow may take longer in all."""

REST_SECONDS = 30.0
"""Timeout for the rest of a request that has been answered already."""

MAX_FRAMING_BYTES = 1 << 16
"""The most bytes of a chunked body besides its content: extensions of chunks, and trailers."""

FREE_CHUNK_BYTES = 32
"""Bytes besides content that each chunk may have without being counted."""

MAX_CONNECTIONS = 1000
"""The most connections of a proxy."""


def connections_limit() -> int:
    """Return the most connections of a proxy: at most half of its file descriptors, because it needs others too."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, max(1, files // 2))


class BoundedProtocol(HttpToolsProtocol):
    """A protocol that bounds the size and time of a request before its token is checked.

    A connection waits for a head, or is in a body, or waits for a reply. One timer watches it: in a head for the time
    since the head began, in a body for progress.
    """

    _timer: TimerHandle | None = None
    _in_message = False
    """Whether a head has ended and its body has not; otherwise the next bytes belong to a head."""
    _head = 0
    """Bytes of a head that has not ended yet."""
    _framing = 0
    """Bytes of a chunked body besides its content."""
    _moved = False
    """Whether content came since the last check of the timer."""
    _since = 0.0
    """Monotonic time at which the connection began to wait for a request."""

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
            self._head += len(data)  # reset at the end of the head
            if self._timer is None:
                self._watch(HEAD_SECONDS, self._head_is_late)
        super().data_received(data)
        if self._head > 2 * MAX_HEADER_BYTES:
            self._refuse(431, f"the headers have more than {MAX_HEADER_BYTES:,} bytes")
        if was_in_message and self._in_message and self._framing > MAX_FRAMING_BYTES:
            self._refuse(431, f"trailers and extensions of chunks have more than {MAX_FRAMING_BYTES:,} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_message:  # ignore trailers, so that headers stay as they were checked
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_message = True
        self._head = self._framing = 0
        self._moved = False
        super().on_headers_complete()
        self._watch(BODY_SECONDS, self._body_is_late)

    def on_chunk_header(self) -> None:
        self._framing = max(0, self._framing - FREE_CHUNK_BYTES)

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
        """Return False: the service has no web sockets, for which these bounds would not hold."""
        return False

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self, seconds: float | None, late: Callable[[], object] = lambda: None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, late)

    def _head_is_late(self) -> None:
        if self._answering:  # the request before; its client may send the next one meanwhile
            self._watch(HEAD_SECONDS, self._head_is_late)
        elif not self._head:
            self.transport.close()
        else:
            self._refuse(408, f"the headers of the request did not arrive within {HEAD_SECONDS:g} seconds")

    def _body_is_late(self) -> None:
        waited_for = not (self.flow.read_paused or self.cycle.waiting_for_100_continue)
        if waited_for and not self._moved:
            self._refuse(408, f"no part of the body arrived for {BODY_SECONDS:g} seconds")
        else:
            self._moved = False
            self._watch(BODY_SECONDS, self._body_is_late)

    def _make_room(self) -> bool:
        """Close the connection that has waited longest for a request, other than this one; return whether one did."""
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
        """Reply, unless a reply has begun, and close the connection."""
        self._watch(None)
        answered = self._answering and self.cycle.response_started
        if not answered:
            error = RefusalError(status, detail)
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
        if answered:  # a client that reads nothing would keep the rest of the reply in memory
            self.transport.abort()
        else:
            self.transport.close()


class OwnSite:
    """An ASGI middleware of a proxy that refuses requests from pages of other sites, for all of its applications."""

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
            except RefusalError as error:
                await refuse(error, send)
                return
        await self.app(scope, receive, send)


class Starting:
    """An ASGI middleware of a proxy that replaces the proxy's own 404 by 503: the service is still starting.

    A 404 of the service itself is a problem document, and passes.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        missing = False

        async def sent(message: Any) -> None:
            nonlocal missing
            if message["type"] == "http.response.start" and message["status"] == 404:
                missing = (b"content-type", PROBLEM) not in message["headers"]
                if missing:
                    await refuse(
                        RefusalError(503, "the service is starting; try again in a moment", kind="starting"), send
                    )
            if not missing:
                await send(message)

        await self.app(scope, receive, sent)


def middlewares() -> list[Any]:
    """Return the middlewares of a proxy, and set the protocol of Serve's server, which is made later."""
    auto.AutoHTTPProtocol = BoundedProtocol
    hosts = hosts_of(os.environ.get(HOST_VARIABLE) or "0.0.0.0", os.environ.get(HOSTS_VARIABLE))
    return [Middleware(OwnSite, hosts=hosts), Middleware(Starting)]


def listen_here_alone() -> None:
    """Make a replica listen for other deployments at the loopback address only: that port accepts pickles."""
    module = replica_module()
    add = module.add_port_to_grpc_server
    module.add_port_to_grpc_server = lambda server, address: add(server, address.replace("[::]", LOOPBACK))
