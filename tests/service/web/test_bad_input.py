"""Each of more than thirty kinds of bad requests gets a clear response, and no other client is affected."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import msgpack
import pyarrow as pa
import pytest

from tests.service.rides import ARROW, Sender, arrow, document, ended, expected, rides, rows_of, submitted, until_taken
from tests.service.serving import TOKEN, Served, descendants

LINES, MSGPACK = "application/x-ndjson", "application/msgpack"
SIMPLE = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds SLIDE 10 seconds"
OTHER = (
    "QUERY other RETURN COUNT(*), SUM(Travel.speed) PATTERN Travel+ WHERE [district] WITHIN 30 seconds SLIDE 10 seconds"
)
EVENTS = "/v1/workloads/JOB/events"


@dataclass(frozen=True)
class Bad:
    status: int
    says: str
    path: str = EVENTS
    method: str = "POST"
    body: bytes | Callable[[], bytes] = b""
    headers: dict[str, str] = field(default_factory=dict)


def events(status: int, says: str, body: bytes | Callable[[], bytes], kind: str, **headers: str) -> Bad:
    return Bad(status, says, body=body, headers={"Content-Type": kind, **headers})


def workload(text: str, says: str, status: int = 422, **more: Any) -> Bad:
    body = json.dumps({"workload": text, **more}).encode()
    return Bad(status, says, "/v1/workloads", body=body, headers={"Content-Type": "application/json"})


def compressed_inside() -> bytes:
    table = pa.table({"type": ["A"] * 1000, "time": list(range(1000))})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def endless_texts() -> bytes:
    codes = pa.array([0] * 100_000, pa.int8())
    return arrow(pa.table({"type": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 100_000]))}))


LINE = b'{"type": "A", "time": 1, "x": 1}\n'
MANY = "\n".join(f"QUERY q{number} RETURN COUNT(*) PATTERN A+ WITHIN 1 minute" for number in range(10_000))
DEEP = "RETURN COUNT(*) PATTERN " + "(" * 5_000 + "A" + ")+" * 5_000 + " WITHIN 1 minute"


def crowd(random: Random) -> str:
    """Return many queries that overlap in every way: it takes ten seconds or more to find what they share."""
    types = [f"A{number}" for number in range(80)]
    taken = [random.sample(types, 50) for _ in range(500)]
    patterns = (f"SEQ({', '.join(one[:3])}, ({', '.join(one[3:47])})+, {', '.join(one[47:])})" for one in taken)
    return ";".join(f"RETURN COUNT(*) PATTERN {one} WITHIN 1 minute SLIDE 1 minute" for one in patterns)


CROWD = crowd(Random(1))
WIDE = "RETURN COUNT(*) PATTERN SEQ(" + ", ".join(f"(A{n}? | B{n}?)+" for n in range(60)) + ") WITHIN 1 minute"

BAD = {
    "truncated msgpack": events(400, "ends in the middle", msgpack.packb([{"type": "A", "time": 1}])[:-3], MSGPACK),
    "msgpack that claims much": events(400, "ends in the middle", b"\xdc\x00\x05", MSGPACK),
    "msgpack of a huge array": events(413, "events in one body", b"\xdd\xff\xff\xff\xff", MSGPACK),
    "msgpack that is deep": events(400, "msgpack", b"\x91" * 100_000, MSGPACK),
    "msgpack of empty maps": events(400, "as a value", msgpack.packb([{"a": [{}] * 100_000}]), MSGPACK),
    "msgpack of bytes": events(422, "bytes", msgpack.packb([{"type": "A", "time": 1, "y": b"\x00"}]), MSGPACK),
    "msgpack with an extension": events(
        400, "extension", msgpack.packb([{"type": "A", "time": msgpack.ExtType(7, b"x")}]), MSGPACK
    ),
    "msgpack of no array": events(400, "array of maps", msgpack.packb({"type": "A"}), MSGPACK),
    "msgpack that goes on": events(400, "continues after", msgpack.packb([]) + b"\x90", MSGPACK),
    "no Arrow": events(400, "Arrow", b"ARROW1 or so" * 100, ARROW),
    "truncated Arrow": events(400, "Arrow", arrow(pa.table({"type": ["A"], "time": [1]}))[:200], ARROW),
    "Arrow of another schema": events(422, "'x' is int64", arrow(pa.table({"type": ["A"], "x": ["one"]})), ARROW),
    "Arrow with lists": events(422, "list", arrow(pa.table({"type": ["A"], "time": [1], "l": [[1]]})), ARROW),
    "Arrow compressed inside": events(422, "compress", compressed_inside, ARROW),
    "Arrow of endless nulls": events(413, "events", lambda: arrow(pa.table({"type": pa.nulls(10**9)})), ARROW),
    "Arrow of endless texts": events(413, "are decoded", endless_texts, ARROW),
    "NaN in JSON": events(400, "NaN", b'{"type": "A", "time": NaN}', LINES),
    "JSON that is cut": events(400, "line 2", LINE + b'{"type": "A", "ti', LINES),
    "JSON that is deep": events(400, "nested", b'{"a":' * 200_000, LINES),
    "JSON arrays that are deep": events(400, "nested", b"[" * 200_000, LINES),
    "JSON that nests": events(400, "is nested", b'{"type": "A", "time": 1, "at": {"x": 1}}', LINES),
    "JSON of a huge number": events(400, "line 1", b'{"type": "A", "time": ' + b"9" * 9_999 + b"}", LINES),
    "a number that is no integer": events(422, "'x' is int64", b'{"type": "A", "time": 1, "x": 1.5}', LINES),
    "a number beyond 64 bits": events(422, "'x' is int64", b'{"type": "A", "time": 1, "x": %d}' % 2**70, LINES),
    "a text for a number": events(422, "'x' is int64", b'{"type": "A", "time": 1, "x": "one"}', LINES),
    "a thousand columns": events(
        422, "columns", json.dumps({"type": "A", "time": 1, **{f"c{n}": n for n in range(1000)}}).encode(), LINES
    ),
    "a zip bomb": events(
        413, "decompressed", lambda: gzip.compress(b"\0" * (1 << 28)), LINES, **{"Content-Encoding": "gzip"}
    ),
    "a bomb of zstd": events(
        413, "decompressed", lambda: pa.Codec("zstd").compress(b"\0" * (1 << 28)).to_pybytes(), LINES,
        **{"Content-Encoding": "zstd"},
    ),
    "no gzip": events(400, "gzip", b"hello", LINES, **{"Content-Encoding": "gzip"}),
    "gzip that is cut": events(400, "gzip", gzip.compress(LINE * 999)[:50], LINES, **{"Content-Encoding": "gzip"}),
    "another compression": events(415, "gzip or zstd", b"hello", LINES, **{"Content-Encoding": "br"}),
    "a pickle": events(415, "the Content-Type of events", pickle.dumps([{"type": "A"}]), "application/x-pickle"),
    "a pickle in disguise": events(400, "msgpack", pickle.dumps([{"type": "A"}]), MSGPACK),
    "no media type": Bad(415, "the Content-Type of events", body=LINE),
    "a submission of no type": Bad(415, "application/json", "/v1/workloads", body=b'{"workload": "A"}'),
    "a form": Bad(
        415, "application/json", "/v1/workloads/JOB/pause", body=b"a=b",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    ),
    "another host": Bad(421, "this Host", "/v1/workloads", "GET", headers={"Host": "rebound.example:8000"}),
    "another host's health": Bad(421, "this Host", "/v1/health", "GET", headers={"Host": "rebound.example"}),
    "another host's routes": Bad(421, "this Host", "/-/routes", "GET", headers={"Host": "rebound.example"}),
    "another site": Bad(403, "other sites", "/v1/workloads/JOB/pause", headers={"Origin": "https://evil.example"}),
    "another site's look": Bad(403, "other sites", "/openapi.json", "GET", headers={"Sec-Fetch-Site": "cross-site"}),
    "another site's question": Bad(403, "other sites", "/v1/workloads", "OPTIONS", headers={"Origin": "null"}),
    "a key that is none": events(422, "Idempotency-Key", LINE, LINES, **{"Idempotency-Key": "x" * 200}),
    "ten thousand queries": workload(MANY, "at most"),
    "a pattern that is deep": workload(DEEP, "nested more than 100 deep"),
    "a pattern that is wide": workload(WIDE, "pattern"),
    "a pattern that takes for ever": workload(CROWD, "planning this workload takes more than"),
    "a workload that is long": workload(" " * 300_000, "characters"),
    "a workload that is none": workload("SELECT * FROM events", "query q1"),
    "half a pair": Bad(
        400, "Unicode", "/v1/workloads", body=b'{"workload": "\\ud800"}', headers={"Content-Type": "application/json"}
    ),
    "NaN in a submission": Bad(
        400, "NaN", "/v1/workloads", body=b'{"workload": "A", "lateness": NaN}',
        headers={"Content-Type": "application/json"},
    ),
    "a submission that is deep": Bad(
        400, "nested", "/v1/workloads", body=b"[" * 100_000, headers={"Content-Type": "application/json"}
    ),
    "a lateness that explodes": workload(SIMPLE, "lateness", lateness="1e999999999"),
    "a setting that is none": workload(SIMPLE, "latenes", latenes=5),
    "a strategy that is none": workload(SIMPLE, "strategy", strategy="magic"),
    "a name with a path": workload(SIMPLE, "name", name="../../etc"),
    "a path in a name": Bad(404, "no such path", "/v1/workloads/..%2f..%2fetc%2fpasswd", "GET"),
    "a name of dots": Bad(404, "no job of that name", "/v1/workloads/%2e%2e%00", "GET"),
    "a job that is none": Bad(404, "no job nobody", "/v1/workloads/nobody/results", "GET"),
    "a cursor that is none": Bad(422, "cursor", "/v1/workloads/JOB/results?after=1.x", "GET"),
    "a limit that is none": Bad(422, "limit", "/v1/workloads/JOB/results?limit=-1", "GET"),
    "a wait for ever": Bad(422, "wait", "/v1/workloads/JOB/results?wait=inf", "GET"),
    "another method": Bad(405, "does not support the method", "/v1/workloads/JOB", "PUT"),
    "a query that is none": Bad(404, "no query", "/v1/workloads/JOB/queries/nobody", "DELETE"),
    "the last query": Bad(409, "last query", "/v1/workloads/JOB/queries/pairs", "DELETE"),
    "large headers": Bad(431, "headers", "/v1/workloads", "GET", headers={f"X-{n}": "x" * 1000 for n in range(90)}),
    "a wrong token": Bad(401, "not the token", "/v1/workloads", "GET", headers={"Authorization": "Bearer guess"}),
    "another kind of token": Bad(401, "not the token", "/v1/workloads", "GET", headers={"Authorization": "Basic x"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def jobs(service: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Submit a job for bad requests, and another one with events before and after them; check the rows of that one."""
    there = ended(rides(tmp_path_factory.mktemp("rides"), 2_000))
    with service.client() as client, submitted(client, SIMPLE) as job, submitted(client, OTHER) as other:
        client.post(f"/v1/workloads/{job}/events", content=LINE, headers={"Content-Type": LINES})
        sender = Sender(client, other, there, 2)
        sender.more()
        yield job, other
        sender.rest()
        until_taken(client, other, there.num_rows)
        assert rows_of(client, other) == expected(OTHER, there)
        assert document(client, job)["metrics"]["events"] == 1
        assert memory(service) < 2 << 30


def memory(service: Served) -> int:
    """Return the resident bytes of the largest process of Serve, which a bomb would increase."""
    found = []
    for pid in descendants(service.process.pid):
        folder = Path("/proc") / str(pid)
        try:
            if "Serve" in (folder / "cmdline").read_text():
                found.append(int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return max(found)


@pytest.mark.parametrize("kind", BAD)
def test_what_nobody_should_send(client: httpx2.Client, jobs: tuple[str, str], kind: str) -> None:
    bad = BAD[kind]
    body = bad.body() if callable(bad.body) else bad.body
    answer = client.request(bad.method, bad.path.replace("JOB", jobs[0]), content=body, headers=bad.headers)
    assert answer.status_code == bad.status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == bad.status
    assert bad.says in found["detail"], found
    assert found["title"]


def test_the_texts_are_those_of_the_command_line(client: httpx2.Client) -> None:
    import elsinore

    text = "RETURN COUNT(*) PATTERN SEQ(A, B+ WITHIN 1 minute;\nRETURN COUNT(X) PATTERN A+ WITHIN 1 minute"
    with pytest.raises(elsinore.WorkloadError) as raised:
        elsinore.check(text)
    found = client.post("/v1/workloads", json={"workload": text}).json()
    assert found["detail"] == str(raised.value)
    assert [one["message"] for one in found["problems"]] == [one.message for one in raised.value.problems]
    assert {one["line"] for one in found["problems"]} <= {1, 2}


def test_a_body_without_an_end(service: Served, jobs: tuple[str, str]) -> None:
    """The service stops reading when the body exceeds the limit."""
    path = f"/v1/workloads/{jobs[0]}/events"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: {LINES}\r\n"
    for length in ("Content-Length: 1073741824", "Transfer-Encoding: chunked"):
        chunk = b"10000\r\n" + b"x" * (1 << 16) + b"\r\n" if "chunked" in length else b"x" * (1 << 16)
        assert b" 413 " in flooded(service, f"{head}{length}\r\n\r\n".encode(), chunk).splitlines()[0]


def test_who_sends_slowly_is_in_nobodys_way(service: Served, client: httpx2.Client, jobs: tuple[str, str]) -> None:
    path = f"/v1/workloads/{jobs[0]}/events"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: {LINES}\r\n"
    with ExitStack() as slow:
        for _ in range(12):
            connection = slow.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=30))
            connection.sendall(f"{head}Content-Length: 100000\r\n\r\n{{".encode())
        assert client.post(path, content=b"", headers={"Content-Type": LINES}, timeout=20).status_code == 202


def test_headers_without_an_end(service: Served) -> None:
    assert b" 431 " in flooded(service, b"GET / HTTP/1.1\r\n", b"X-Flood: " + b"x" * 4096 + b"\r\n").splitlines()[0]
    assert b" 431 " in flooded(service, b"GET / HTTP/1.1\r\nX-Flood: ", b"x" * 4096).splitlines()[0]


def test_trailers_without_an_end(service: Served) -> None:
    """They come before the check of the token, and the proxy keeps none of them."""
    head = b"POST /v1/workloads HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
    sent, most = 0, 64 << 20
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head)
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < most:
                sent += connection.send(b"X-Flood: " + b"x" * 4096 + b"\r\n")
    assert sent < most


def test_a_small_body_for_many_values(service: Served, client: httpx2.Client) -> None:
    """This is at the default limits; `test_bombs` has more such bodies."""
    columns = {"type": "string", "time": "int64", **{f"c{number}": "int64" for number in range(510)}}
    with submitted(client, SIMPLE, columns=columns) as job:
        before = memory(service)
        full = json.dumps(dict.fromkeys(columns, 1) | {"type": "A"}).encode()
        for body, status in ((b"{}\n" * 500_000, 202), (full + b"\n" + b"{}\n" * 499_999, 413)):
            headers = {"Content-Type": LINES, "Content-Encoding": "gzip"}
            answer = client.post(f"/v1/workloads/{job}/events", content=gzip.compress(body), headers=headers)
            assert answer.status_code == status, answer.text
        assert memory(service) - before < 256 << 20


def flooded(service: Served, head: bytes, piece: bytes) -> bytes:
    """Send pieces until the service replies or closes the connection, and return its reply."""
    sent = 0
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head)
        try:
            while sent < 1 << 30:
                sent += connection.send(piece)
                connection.setblocking(False)
                try:
                    if reply := connection.recv(4096):
                        return reply
                except BlockingIOError:
                    pass
                connection.setblocking(True)
                connection.settimeout(30)
        except (BrokenPipeError, ConnectionResetError):
            connection.settimeout(5)
            return connection.recv(4096)
    raise AssertionError("it takes everything")
