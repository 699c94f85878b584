"""The network edge: the proxy's replies before the service is ready, and its limits before the check of a token."""

from __future__ import annotations

import asyncio
import json
import resource
import selectors
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import uvicorn
from starlette.middleware import Middleware

from elsinore.cluster.service.settings import service_settings
from elsinore.cluster.service.web import edge
from elsinore.cluster.service.web.edge import (
    BODY_SECONDS,
    HEAD_SECONDS,
    MAX_FRAMING_BYTES,
    REST_SECONDS,
    BoundedProtocol,
    OwnSite,
    Starting,
    connections_limit,
    middlewares,
)
from elsinore.cluster.service.web.guard import MAX_HEADER_BYTES, Guard

PROBLEM, PLAIN = (b"content-type", b"application/problem+json"), (b"content-type", b"text/plain")

SPEED = 60
"""Seconds of the loop's clock per real second, so that tests can use the real timeouts."""

TOKEN = "secret"
GET = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /v1/workloads HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SIGNED = POST + b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
NO_TIMEOUT = 300
"""Seconds of the loop's clock, longer than any timeout."""


@pytest.mark.parametrize(
    ("status", "kind", "told"), [(404, PLAIN, 503), (404, PROBLEM, 404), (200, PLAIN, 200), (500, PLAIN, 500)]
)
def test_what_is_not_found_yet_is_asked_for_again(status: int, kind: tuple[bytes, bytes], told: int) -> None:
    async def proxy(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": [kind]})
        await send({"type": "http.response.body", "body": b"said"})

    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(Starting(proxy)({"type": "http"}, None, send))
    start, body = sent
    assert start["status"] == told
    assert (b"retry-after", b"2") in start["headers"] or told == status
    assert (body["body"] == b"said") == (told == status)


class FastSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> Any:
        return super().select(timeout if timeout is None else timeout / SPEED)


class FastLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock runs fast."""

    def __init__(self) -> None:
        super().__init__(FastSelector())

    def time(self) -> float:
        return monotonic() * SPEED


class Served:
    """A server with the real protocol and guard, and an application that reads all bodies."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.port = 0
        self.connections: set[Any] = set()

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(scope)
        length = 0
        while True:
            message = await receive()
            length += len(message.get("body", b""))
            if message["type"] != "http.request" or not message["more_body"]:
                break
        if scope["path"] == "/v1/endless":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"first", "more_body": True})
            await asyncio.sleep(NO_TIMEOUT)
        content = b"%d" % length
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(content))]}
        )
        await send({"type": "http.response.body", "body": content})

    async def connect(self) -> tuple[StreamReader, StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, *sent: bytes) -> bytes:
        """Send bytes, and return everything that the server sends until it closes the connection."""
        reader, writer = await self.connect()
        for piece in sent:
            writer.write(piece)
            await asyncio.sleep(0.5)
        return await ended(reader)


async def ended(reader: StreamReader) -> bytes:
    try:
        return await asyncio.wait_for(reader.read(), NO_TIMEOUT)
    except ConnectionResetError:
        return b""


@asynccontextmanager
async def running() -> AsyncIterator[Served]:
    here = Served()
    app = Guard(here.app, service_settings(token=TOKEN))
    config = uvicorn.Config(
        app, port=0, http=BoundedProtocol, lifespan="off", log_level="critical", timeout_keep_alive=75
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    here.connections = server.server_state.connections
    here.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield here
    finally:
        server.force_exit = True
        for listening in server.servers:
            listening.close()
        for connection in list(server.server_state.connections):
            connection.transport.abort()


def run(test: Callable[[Served], Awaitable[None]], loop: type[asyncio.SelectorEventLoop] = FastLoop) -> None:
    async def whole() -> None:
        async with running() as here:
            await test(here)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(whole())


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("sent", [b"", GET, b"\r\n\r\n", POST + b"X-Half: "])
def test_a_head_that_does_not_end_is_given_up(sent: bytes) -> None:
    async def test(here: Served) -> None:
        started_at = now()
        told = await here.ask(*filter(None, [sent]))
        assert HEAD_SECONDS <= now() - started_at < 2 * HEAD_SECONDS
        assert told.startswith(b"HTTP/1.1 408 ") or not sent
        assert here.seen == []

    run(test)


@pytest.mark.parametrize("piece", [b"\r\n", b"X"])
def test_a_head_that_drips_is_given_up(piece: bytes) -> None:
    """This holds on a new connection, and after a request on the same one."""

    async def test(here: Served) -> None:
        for before in (b"", GET + b"\r\n"):
            reader, writer = await here.connect()
            writer.write(before)
            if before:
                assert await reader.readuntil(b"\r\n\r\n")
            started_at, over = now(), asyncio.create_task(ended(reader))
            while not over.done():
                writer.write(piece)
                await asyncio.sleep(1)
            assert now() - started_at < 2 * HEAD_SECONDS

    run(test)


def test_a_connection_that_asks_nothing_more_is_closed() -> None:
    async def test(here: Served) -> None:
        started_at = now()
        assert (await here.ask(GET + b"\r\n")).startswith(b"HTTP/1.1 200 ")
        assert 70 < now() - started_at < 120

    run(test)


@pytest.mark.parametrize("length", [b"Content-Length: 1000\r\n\r\n", CHUNKED, CHUNKED + b"1\r\nx\r\n0\r\nX-Late: "])
def test_a_body_that_does_not_come_is_given_up(length: bytes) -> None:
    async def test(here: Served) -> None:
        started_at = now()
        told = await here.ask(SIGNED + length)
        assert told.startswith(b"HTTP/1.1 408 ")
        assert b"application/problem+json" in told
        assert BODY_SECONDS <= now() - started_at < 3 * BODY_SECONDS

    run(test)


def test_a_slow_body_goes_on() -> None:
    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        writer.write(SIGNED + b"Content-Length: 10\r\n\r\n")
        for _ in range(10):
            await asyncio.sleep(BODY_SECONDS * 0.6)
            writer.write(b"x")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert await reader.readexactly(2) == b"10"

    run(test)


@pytest.mark.parametrize("rest", [b"x", b"e" * 64, b""], ids=["content", "an extension", "nothing"])
def test_what_is_answered_already_is_not_read_for_long(rest: bytes) -> None:
    """After a refusal the server reads the request's body only for a limited time, then closes the connection."""

    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        writer.write(POST + (CHUNKED + b"1;" if b"e" in rest else b"Content-Length: 1000\r\n\r\n"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 401 ")
        started_at, over = now(), asyncio.create_task(ended(reader))
        while not over.done():
            writer.write(rest)
            await asyncio.sleep(1)
        assert now() - started_at < REST_SECONDS + HEAD_SECONDS

    run(test)


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"X-Trailer: " + b"y" * 1000 + b"\r\n"),
        (CHUNKED + b"1\r\nx\r\n0\r\nX-Trailer: ", b"y" * 1000),
        (CHUNKED, b"1;" + b"e" * 1000 + b"\r\nx\r\n"),
        (CHUNKED + b"1;", b"e" * 1000),
        (CHUNKED + b"1\r\nx\r\n" * 40_000 + b"0\r\nX-Trailer: ", b"y" * 1000),
        (b"X-Head: ", b"y" * 1000),
        (b"", b"X-Head: " + b"y" * 1000 + b"\r\n"),
        (CHUNKED[-2:], b"\r\n" * 500),
    ],
    ids=["trailers", "a trailer", "extensions", "an extension", "behind many chunks", "a header", "headers", "nothing"],
)
@pytest.mark.parametrize("head", [POST, SIGNED], ids=["no token", "token"])
def test_nothing_but_content_comes_without_an_end(head: bytes, begin: bytes, piece: bytes) -> None:
    """After a few hundred kilobytes of anything else the server closes the connection, and uses no memory for them."""

    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        if begin == CHUNKED[-2:]:
            writer.write(GET)
        else:
            writer.write(head)
        writer.write(begin)
        sent, over = 0, asyncio.create_task(ended(reader))
        while not over.done():
            writer.write(piece * 16)
            sent += 16 * len(piece)
            assert sent < 20 * MAX_FRAMING_BYTES + 4 * MAX_HEADER_BYTES, "it takes everything"
            try:
                await writer.drain()
            except ConnectionError:
                break
            await asyncio.sleep(0)
        await over
        assert all(len(scope["headers"]) < 5 for scope in here.seen)

    run(test)


def test_a_trailer_is_no_header() -> None:
    """This holds even if the trailer arrives together with the head."""

    async def test(here: Served) -> None:
        told = await here.ask(POST + CHUNKED + b"0\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 401 ")

    run(test)


def test_bodies_in_chunks_are_read_as_they_are() -> None:
    """The body has small and large chunks, with extensions and trailers."""

    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        for _ in range(2):
            writer.write(SIGNED + CHUNKED)
            for size in (1, 7, 1 << 18, 100):
                for _ in range(20):
                    writer.write(b"%x;a=b\r\n%b\r\n" % (size, b"x" * size))
                    await writer.drain()
            writer.write(b"0\r\nX-Sum: 17\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(7) == b"%d" % (20 * (1 + 7 + (1 << 18) + 100))

    run(test)


@pytest.mark.parametrize("size", [100, 100_000, 200_000, 1_000_000])
def test_requests_behind_each_other_on_one_connection(size: int) -> None:
    """Bytes after the end of a head do not count as part of it, however many arrive at once."""

    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        body = b"x" * size
        writer.write((SIGNED + b"Content-Length: %d\r\n\r\n" % len(body) + body) * 5 + GET + b"\r\n")
        for length in [b"%d" % size] * 5 + [b"0"]:
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(len(length)) == length

    run(test)


def test_what_is_behind_a_head_is_no_part_of_it() -> None:
    """This holds for a request that arrives in one piece as large as the largest read of a loop."""

    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        while not here.connections:
            await asyncio.sleep(0.1)
        [connection] = here.connections
        for _ in range(3):
            connection.data_received(SIGNED + b"Content-Length: 200000\r\n\r\n" + b"x" * 200_000)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(6) == b"200000"
        writer.close()

    run(test)


def test_connections_are_bounded_and_new_ones_find_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closes idle connections for new ones, and keeps those with a response under way."""

    async def test(here: Served) -> None:
        endless, writer = await here.connect()
        writer.write(SIGNED.replace(b"/v1/workloads", b"/v1/endless") + b"Content-Length: 0\r\n\r\n")
        await endless.readuntil(b"first")
        idle = [await here.connect() for _ in range(connections_limit() + 20)]
        for _ in range(3):
            reader, writer = await here.connect()
            writer.write(GET + b"Connection: close\r\n\r\n")
            assert (await ended(reader)).startswith(b"HTTP/1.1 200 ")
        closed = [reader for reader, _ in idle if reader.at_eof()]
        assert 20 <= len(closed) <= 40
        assert not endless.at_eof()
        for _, writer in idle:
            writer.close()

    # Server and clients are in this process, so each connection takes two file descriptors.
    monkeypatch.setattr(
        edge, "MAX_CONNECTIONS", min(edge.MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
    )
    run(test, asyncio.SelectorEventLoop)


def test_where_all_are_answered_a_new_one_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(here: Served) -> None:
        monkeypatch.setattr(edge, "MAX_CONNECTIONS", 2)
        answered = [await here.connect() for _ in range(2)]
        for reader, writer in answered:
            writer.write(SIGNED.replace(b"/v1/workloads", b"/v1/endless") + b"Content-Length: 0\r\n\r\n")
            await reader.readuntil(b"first")
        assert (await here.ask()).startswith(b"HTTP/1.1 503 ")

    run(test)


def test_there_are_no_web_sockets() -> None:
    async def test(here: Served) -> None:
        reader, writer = await here.connect()
        upgrade = (
            b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n"
        )
        writer.write(GET + upgrade + b"\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")

    run(test)


def test_what_is_no_http_gets_a_problem_document() -> None:
    async def test(here: Served) -> None:
        head, _, body = (await here.ask(b"\x16\x03\x01 hello\r\n\r\n")).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"application/problem+json" in head
        assert json.loads(body)["status"] == 400

    run(test)


@pytest.mark.parametrize("path", ["/-/healthz", "/-/routes", "/v1/health", "/anything"])
def test_a_proxy_answers_no_other_site_itself(path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The middlewares wrap Serve's own replies in the order that Serve uses."""
    monkeypatch.setenv("ELSINORE_SERVICE_HOST", "127.0.0.1")
    monkeypatch.delenv("ELSINORE_SERVICE_HOSTS", raising=False)

    async def proxy(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"routes"})

    statuses = []
    app: Any = proxy
    for one in reversed(middlewares()):
        assert isinstance(one, Middleware)
        app = one.cls(app, *one.args, **one.kwargs)
    assert isinstance(app, OwnSite)
    asked = [
        [(b"host", b"127.0.0.1:8000")],
        [(b"host", b"rebound.example:8000")],
        [(b"host", b"127.0.0.1:8000"), (b"origin", b"https://evil.example")],
        [],
    ]
    for headers in asked:
        sent: list[Any] = []

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        asyncio.run(app({"type": "http", "path": path, "headers": headers}, None, send))
        statuses.append(sent[0]["status"])
    assert statuses == [200, 421, 403, 400]
