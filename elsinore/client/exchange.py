"""What goes between a client and a service, as values.

A call is a generator: it yields what is to be done next, a request or a pause, and is sent what came of it. It knows
neither sockets nor clocks, so the same call serves `elsinore.connect` and `elsinore.connect_async`.
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
    """Something to ask a service."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    wait: float = 0
    """Seconds for which the service was asked to hold its answer back."""


@dataclass(frozen=True)
class Response:
    """What it answered. Names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """The media type, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class Silence:
    """No answer came, or not all of it. Nobody knows whether the request did."""

    reason: str
    seconds: float
    """That were waited for it."""


@dataclass(frozen=True)
class Pause:
    """Nothing is to be done for a while."""

    seconds: float


T = TypeVar("T")

Steps: TypeAlias = Generator[Request | Pause, Response | Silence | None, T]
"""A call that ends in a T. A request is answered by a response or silence, a pause by None."""
