"""Play calls without a socket: each request gets the next answer of a list."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

import msgpack
import pyarrow as pa

from elsinore.client.exchange import JSON, PROBLEM, NoResponse, Pause, Request, Response, Steps

T = TypeVar("T")

DOCUMENT: dict[str, Any] = {
    "id": "rides",
    "state": "running",
    "workload": "QUERY trips RETURN COUNT(*) PATTERN Ride+ WITHIN 10 seconds SLIDE 10 seconds",
    "queries": ["trips"],
    "strategy": "auto",
    "numeric": "exact",
    "lateness": 0,
    "type_column": "type",
    "time_column": "time",
    "time_unit": "s",
    "columns": {},
    "created": "2026-11-19T00:00:00Z",
    "metrics": {"events": 1234, "rows": 5},
}

LOST = NoResponse("ReadError", 0.5)


def said(document: Any, status: int = 200, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, {"content-type": JSON} | named, json.dumps(document).encode())


def problem(status: int, detail: str = "no", **members: Any) -> Response:
    document = {"type": "about:blank", "title": "No", "status": status, "detail": detail, **members}
    return Response(status, {"content-type": PROBLEM}, json.dumps(document).encode())


def unpacked(body: bytes) -> Any:
    """Return events that were sent as msgpack within zstd."""
    return msgpack.unpackb(inflated(body))


def inflated(body: bytes) -> bytes:
    return pa.CompressedInputStream(pa.BufferReader(body), "zstd").read()


class Played:
    """A call that was played to its end against these answers."""

    def __init__(self, steps: Steps[Any], answers: Iterable[Response | NoResponse]) -> None:
        self.requests: list[Request] = []
        self.pauses: list[float] = []
        self.result: Any = None
        self.error: Exception | None = None
        left, came = iter(answers), None
        try:
            while True:
                step = steps.send(came)
                if isinstance(step, Pause):
                    self.pauses.append(step.seconds)
                    came = None
                else:
                    self.requests.append(step)
                    came = next(left)
        except StopIteration as end:
            self.result = end.value
        except (ValueError, RuntimeError) as error:
            self.error = error
        assert not isinstance(answers, list) or not list(left), "answers without a request"
