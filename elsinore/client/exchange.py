"""The requests and responses between a client and a service, as values.

A call is a generator: it yields the next action, a request or a pause, and is sent its outcome. It uses neither
sockets nor clocks, so the same call serves `elsinore.connect` and `elsinore.connect_async`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
MSGPACK = "application/msgpack"
PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Request:
    """A request to a service."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    wait: float = 0
    """Seconds for which the service may delay its response until there are rows (long polling)."""


@dataclass(frozen=True)
class Response:
    """The response of a service. Names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """Return the media type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class NoResponse:
    """The lack of a complete response. The service may or may not have received the request."""

    reason: str
    seconds: float
    """Seconds spent waiting for the response."""


@dataclass(frozen=True)
class Pause:
    """A wait before the next request."""

    seconds: float


T = TypeVar("T")

Steps: TypeAlias = Generator[Request | Pause, Response | NoResponse | None, T]
"""A call that returns a T. It is sent a response or silence for a request, and None for a pause."""
