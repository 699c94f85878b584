"""Where Serve meets the network: what has to be changed in it, because it cannot be set.

Uvicorn reads headers for as long as they come; and a proxy that does not know of the service yet says that there is no
such thing. Serve's proxies import `middlewares` by the environment variable `CALLBACK`, which has to be set where they
run.
"""

from __future__ import annotations

from typing import Any

from ray.serve._private import replica
from starlette.middleware import Middleware
from uvicorn.protocols.http import auto
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cluster.service.guard import HEADERS, refuse
from cluster.service.refusals import RefusedError
from cluster.service.settings import LOOPBACK

CALLBACK = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
IMPORT_PATH = "cluster.service.edge:middlewares"

PROBLEM = b"application/problem+json"


class BoundedProtocol(HttpToolsProtocol):
    """Counts the bytes of a head that has no end yet."""

    _head = 0
    _in_head = True

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head, self._head = False, 0
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > 2 * HEADERS:
                self._refuse()

    def _refuse(self) -> None:
        error = RefusedError(431, f"the headers are more than {HEADERS:,} bytes")
        head = [
            b"HTTP/1.1 431 Request Header Fields Too Large",
            b"content-type: application/problem+json",
            b"content-length: %d" % len(error.body),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*head, b"", error.body]))
        self.transport.close()


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
    return [Middleware(Starting)]


def listen_here_alone() -> None:
    """A replica has a port for other deployments, which takes pickles, at all addresses: here, at the loopback's."""
    module: Any = replica
    add = module.add_port_to_grpc_server
    module.add_port_to_grpc_server = lambda server, address: add(server, address.replace("[::]", LOOPBACK))
