"""What a proxy says of a service that is not there yet."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cluster.service.edge import Starting

PROBLEM, PLAIN = (b"content-type", b"application/problem+json"), (b"content-type", b"text/plain")


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
