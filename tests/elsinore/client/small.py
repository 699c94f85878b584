"""A small server that implements the protocol over real sockets, and fails as a test specifies.

It counts events by key and returns given rows. The processing of events is tested with a real service.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pyarrow as pa

from tests.elsinore.client.scripted import DOCUMENT, inflated, unpacked

TOKEN = "let-me-in"


@dataclass
class Small:
    """The behaviour that a test sets, and the requests that it reads afterwards."""

    url: str = ""
    rows: pa.Table = field(default_factory=lambda: pa.table({"query": pa.array([], pa.string())}))
    faults: list[str] = field(default_factory=list)
    """One for each future request: "" for none, "drop" before processing, "forget" after it, a status, or "to URL"."""
    taken: dict[str, int] = field(default_factory=dict)
    """Events by key."""
    requests: int = 0
    removed: bool = False

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return _problem(401, "this service requires a token")
        path, _, query = path.partition("?")
        if path.endswith("/events"):
            return self._events(headers, body)
        if path.endswith("/results"):
            return self._results(query)
        if method == "DELETE":
            self.removed = True
            return 204, "", b"", {}
        if path.endswith("/explain"):
            return 200, "text/plain", b"trips: apart", {}
        if path.endswith("/decisions"):
            return 200, "application/vnd.apache.arrow.stream", _stream(pa.table({"choice": ["shared"]})), {}
        if path.endswith("/statistics"):
            return _json(200, {"events": {"Ride": 3}})
        if path == "/v1/workloads" and method == "GET":
            return _json(200, {"workloads": [DOCUMENT]})
        if path.startswith("/v1/workloads/nothing"):
            return _problem(404, "there is no job nothing")
        return _json(201 if path == "/v1/workloads" else 200, DOCUMENT)

    def _events(self, headers: Any, body: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        key, packed = headers["Idempotency-Key"], headers["Content-Type"] == "application/msgpack"
        count = len(unpacked(body)) if packed else pa.ipc.open_stream(inflated(body)).read_all().num_rows
        repeated = key in self.taken
        self.taken[key] = count
        return _json(202, {"events": count, "repeated": repeated})

    def _results(self, query: str) -> tuple[int, str, bytes, dict[str, str]]:
        """Return three rows a page; the cursor is the number of rows before it."""
        after = int(query.partition("after=")[2].partition("&")[0] or 0)
        page = self.rows.slice(after, 3)
        headers = {"Elsinore-Next": str(after + len(page))}
        return 200, "application/vnd.apache.arrow.stream", _stream(page), headers


@contextmanager
def small(**options: Any) -> Iterator[Small]:
    """Run a server until the end of the block."""
    service = Small(**options)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(service: Small) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def work(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fault = service.faults[service.requests] if service.requests < len(service.faults) else ""
            service.requests += 1
            if fault == "drop":
                self.close_connection = True
                return
            if fault.isdigit():
                self.reply(*_problem(int(fault), "come again", {"Retry-After": "0"}))
                return
            if fault.startswith("to "):
                self.reply(307, "text/plain", b"elsewhere", {"Location": fault.removeprefix("to ")})
                return
            answer = service.answer(self.command, self.path, self.headers, body)
            if fault == "forget":
                self.close_connection = True
                return
            self.reply(*answer)

        do_GET = do_POST = do_DELETE = work  # noqa: N815

        def reply(self, status: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in ({"Content-Type": kind, "Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Discard the log."""

    return Handler


def _json(status: int, document: Any) -> tuple[int, str, bytes, dict[str, str]]:
    return status, "application/json", json.dumps(document).encode(), {}


def _problem(status: int, detail: str, headers: dict[str, str] | None = None) -> tuple[int, str, bytes, dict[str, str]]:
    document = {"type": "about:blank", "title": "No", "status": status, "detail": detail}
    return status, "application/problem+json", json.dumps(document).encode(), headers or {}


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


TABLE = pa.table({"type": ["Ride"] * 3, "time": [1, 2, 3]})

ROWS = [
    {"query": "trips", "window_start": start, "window_end": start + 10, "COUNT(*)": 2**300 + start}
    for start in range(8)
]

COLUMNS = {b"columns": json.dumps({"trips": ["window_start", "window_end", "COUNT(*)"]}).encode()}

NUMBERS = pa.field("COUNT(*)", pa.string(), metadata={b"number": b"true"})

WRITTEN = pa.Table.from_arrays(
    [
        pa.array([row["query"] for row in ROWS]),
        *(pa.array([row[name] for row in ROWS], pa.int64()) for name in ("window_start", "window_end")),
        pa.array([str(row["COUNT(*)"]) for row in ROWS]),
    ],
    schema=pa.schema(
        [("query", pa.string()), ("window_start", pa.int64()), ("window_end", pa.int64()), NUMBERS], COLUMNS
    ),
)
