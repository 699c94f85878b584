"""Server-sent events for a page: what it shows, from the position at which it stopped.

No queue grows for a slow page: a message is made from the current state when the one before has been sent. Buffers on
the way to a browser that sleeps hold at most one stream, which ends after a while; a browser that is awake then opens
the next one, and says by Last-Event-ID where it is.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic

STREAM_SECONDS = 60.0
"""Seconds after which a stream ends."""

STREAM_BYTES = 1 << 20
"""Bytes after which a stream ends."""

TICK_SECONDS = 1.0
"""Seconds between two messages."""

RETRY_MILLISECONDS = 300
"""Milliseconds after which a browser opens the next stream."""

POSITION_FORM = re.compile(r"([0-9a-f]{8}) (\d{1,18}|-) (\d{1,18}|-) (\d{1,18}\.\d{1,18}|-)")

REPLICA = token_hex(4)
"""This process: numbers of looks and bursts mean nothing to another one, but cursors of rows do."""


@dataclass(frozen=True)
class Position:
    """What a page knows."""

    jobs: int | None = None
    bursts: int | None = None
    rows: str | None = None

    def __str__(self) -> str:
        parts = ("-" if part is None else str(part) for part in (self.jobs, self.bursts, self.rows))
        return " ".join([REPLICA, *parts])

    @classmethod
    def read(cls, text: str | None) -> Position:
        """Return the position that a browser sends back; the beginning if it is none of ours."""
        found = POSITION_FORM.fullmatch(text or "")
        if found is None:
            return cls()
        replica, jobs, bursts, rows = (None if part == "-" else part for part in found.groups())
        here = replica == REPLICA
        return cls(int(jobs) if jobs and here else None, int(bursts) if bursts and here else None, rows)


@dataclass(frozen=True)
class Message:
    """A message, and the position of a page that has read it."""

    kind: str
    data: str
    position: Position

    def encoded(self) -> bytes:
        """Return the message as it is sent; JSON of one line has no line ends that would have to be split."""
        return f"event: {self.kind}\nid: {self.position}\ndata: {self.data}\n\n".encode()


Part = Callable[[Position], Awaitable[Message | None]]
"""A part of a page: returns the message that follows a position, or None if there is nothing new."""


async def updates(
    parts: Sequence[Part],
    position: Position,
    clock: Callable[[], float] = monotonic,
    tick: float = TICK_SECONDS,
    seconds: float = STREAM_SECONDS,
    most: int = STREAM_BYTES,
) -> AsyncIterator[bytes]:
    """Yield what each part has to tell, until the time or the bytes of a stream are used up."""
    begun, sent = clock(), 0
    yield b"retry: %d\n\n" % RETRY_MILLISECONDS
    while clock() - begun < seconds and sent < most:
        quiet = True
        for part in parts:
            message = await part(position)
            if message is not None:
                quiet, position = False, message.position
                found = message.encoded()
                sent += len(found)
                yield found
        if quiet:
            yield b":\n\n"
        await asyncio.sleep(tick)
