"""A page that is left open for half an hour of updates takes no more memory at the end than at the beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import monotonic
from typing import Any

import pyarrow as pa
import pytest

from tests.service.console.browsing import chromium, opened
from tests.service.rides import Sender, rides, submitted
from tests.service.serving import Served

WINDOWS = "GROUP-BY district WITHIN 10 seconds SLIDE 10 seconds"
SHARED = f"""QUERY kept RETURN district, COUNT(*) PATTERN SEQ(Request, Travel+) {WINDOWS};
QUERY arrived RETURN district, COUNT(*) PATTERN SEQ(Pickup, Travel+) {WINDOWS}"""

MINUTES, WARMING_MINUTES = 30, 5
UPDATES = 10
"""Updates a second, in all."""
SENDERS, PAUSE_SECONDS = 3, 0.1
"""An update takes some 0.1 s, and three times that on a busy machine."""
PIECES = MINUTES * 60 * UPDATES
EVENTS = 40 * PIECES
GROWTH = 1.1
SERVICE_GROWTH = 1.15


@pytest.mark.long
def test_memory_is_flat_while_updates_come(
    service: Served, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with (
        service.client() as client,
        submitted(client, SHARED, name="long-watched", lateness=20),
        chromium() as browser,
        opened(browser, service) as rows,
        opened(browser, service) as bursts,
    ):
        rows.goto("/#/jobs/long-watched")
        bursts.goto("/#/jobs/long-watched/sharing")
        with _sending(service, "long-watched", rides(tmp_path, EVENTS)) as senders:
            seen = [_after(60, rows, bursts, service) for _ in range(MINUTES)]
            updates = sum(one.sent for one in senders)
        record_property("bytes", seen)
        record_property("updates", updates)
        assert updates > MINUTES * 60 * UPDATES, "fewer updates than ten a second"
        warm, last = seen[WARMING_MINUTES : 2 * WARMING_MINUTES], seen[-WARMING_MINUTES:]
        for name, most in (("rows", GROWTH), ("bursts", GROWTH), ("service", SERVICE_GROWTH)):
            # A single moment may have objects that are about to go.
            assert median(one[name] for one in last) <= median(one[name] for one in warm) * most, seen


@contextmanager
def _sending(service: Served, job: str, events: pa.Table) -> Iterator[list[Sender]]:
    """Send events while the block runs; each sender sends all of them, and is at about the same time as the others."""
    with ExitStack() as clients:
        senders = [
            Sender(clients.enter_context(service.client()), job, events, PIECES, PAUSE_SECONDS) for _ in range(SENDERS)
        ]
        over = Event()
        going = [Thread(target=_send, args=(one, over), daemon=True) for one in senders]
        for thread in going:
            thread.start()
        try:
            yield senders
        finally:
            over.set()
            for thread in going:
                thread.join()


def _send(sender: Sender, over: Event) -> None:
    while not over.is_set() and sender.sent < sender.pieces:
        sender.more()


def _after(seconds: float, rows: Any, bursts: Any, service: Served) -> dict[str, int]:
    """Return the bytes of both pages' objects and of the service's own process after some seconds."""
    end = monotonic() + seconds
    while monotonic() < end:
        rows.wait_for_timeout(1000)
    return {"rows": _heap(rows), "bursts": _heap(bursts), "service": _resident(service.process.pid)}


def _heap(page: Any) -> int:
    """Return the bytes of a page's live objects."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used


def _resident(pid: int) -> int:
    lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))
