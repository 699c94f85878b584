"""Share state and helpers among the requests of one process."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool

from elsinore.cluster.service.control import Control
from elsinore.cluster.service.intake import Backlog
from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.rows import Reader
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.guard import too_large
from elsinore.cluster.service.web.refusals import RefusalError, refusal

Model = TypeVar("Model", bound=BaseModel)
Answer = TypeVar("Answer")

MAX_BODIES = 8
"""Number of largest bodies for which `BodyMemory` has room."""

JSON = "application/json"

KEY_FORM = re.compile(r"[ -~]{1,128}")


class BodyMemory:
    """A limit on the bytes of all bodies in memory. Only received bytes count, so a slow client blocks no other."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0

    @contextmanager
    def reserve(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that reserves bytes for each piece of a body; the block's end releases all of them."""
        mine = 0

        def more(length: int) -> None:
            nonlocal mine
            if self.held + length > self.limit:
                raise RefusalError(429, "too many request bodies are being received; try again in a moment")
            self.held += length
            mine += length

        try:
            yield more
        finally:
            self.held -= mine


@dataclass
class Context:
    settings: ServiceSettings
    jobs: Jobs
    control: Control
    room: BodyMemory
    appends: asyncio.Semaphore
    planning: asyncio.Semaphore
    """Admits one at a time, because to plan a large workload takes a second of processor time."""
    backlog: Backlog
    drafts: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Admits one request to the process of the workbench at a time."""
    drafts_open: int = 0
    """Requests to that process, with those that wait."""
    readers: dict[str, Reader] = field(default_factory=dict)

    def reader(self, name: str) -> Reader:
        job = self.jobs.get(name)
        if len(self.readers) > 4 * self.settings.workloads:
            self.readers.clear()
        return self.readers.setdefault(job.name, Reader(job))


def context(request: Request) -> Context:
    found: Context = request.app.state.context
    return found


async def in_thread(function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Run a function in a thread; raise its expected errors as RefusedError."""
    try:
        return await run_in_threadpool(function, *arguments)
    except Exception as error:
        found = refusal(error)
        if found.status == 500:
            raise
        raise found from None


async def body_of(request: Request, limit: int, settings: ServiceSettings, more: Callable[[int], None]) -> bytes:
    """Read the body of a request; raise RefusedError as soon as it exceeds the limit."""
    found = bytearray()
    async for piece in request.stream():
        more(len(piece))
        found += piece
        if len(found) > limit:
            raise too_large(settings)
    return bytes(found)


def key_of(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not KEY_FORM.fullmatch(key):
        raise RefusalError(422, "an Idempotency-Key must be 1 to 128 printable ASCII characters", kind="key")
    return key


def read_document(body: bytes, model: type[Model]) -> Model:
    """Parse a body of JSON and validate it as a model; raise RefusedError where that fails."""
    try:
        found = json.loads(body, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise RefusalError(400, "the body is nested too deeply") from None
    except UnicodeEncodeError:
        raise RefusalError(400, "the body has a text that is not valid Unicode: half of a surrogate pair") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise RefusalError(400, f"the body is not JSON: {error}") from None
    try:
        return model.model_validate(found)
    except ValidationError as error:
        raise RefusalError(422, "\n".join(map(message_of, error.errors())), kind="input") from None


def message_of(problem: Any) -> str:
    where = ".".join(str(part)[:64] for part in problem["loc"]) or "the body"
    return f"{where}: {problem['msg']}"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number; write null")


def media_type(request: Request) -> str | None:
    """Return the media type of a body; None unless the request has exactly one Content-Type."""
    found = request.headers.getlist("content-type")
    return found[0].split(";")[0].strip().lower() if len(found) == 1 else None


def check_json(request: Request) -> None:
    """Refuse a request that does not declare JSON: a form of another site, which a browser sends unasked, cannot."""
    if media_type(request) != JSON:
        raise RefusalError(415, f"the body must be JSON: set Content-Type to {JSON}")


def check_no_form(request: Request) -> None:
    """Refuse a request that needs no body but has one that is not JSON, as the form of another site has."""
    has_body = "transfer-encoding" in request.headers or request.headers.get("content-length", "0").strip("0") != ""
    if has_body or "content-type" in request.headers:
        check_json(request)
