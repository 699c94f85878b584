"""A page that is left open for half an hour of updates takes no more memory at the end than at the beginning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest

from tests.service.console.browsing import chromium, opened
from tests.service.rides import Sender, rides, submitted
from tests.service.serving import Served

WINDOWS = "GROUP-BY district WITHIN 10 seconds SLIDE 10 seconds"
SHARED = f"""QUERY kept RETURN district, COUNT(*) PATTERN SEQ(Request, Travel+) {WINDOWS};
QUERY arrived RETURN district, COUNT(*) PATTERN SEQ(Pickup, Travel+) {WINDOWS}"""

MINUTES, WARMING_MINUTES = 30, 5
PAUSE_SECONDS = 0.07
PIECES = MINUTES * 60 * 12
EVENTS = 40 * PIECES
GROWTH = 1.1
SERVICE_GROWTH = 1.15


@pytest.mark.long
def test_memory_is_flat_while_updates_come(
    service: Served, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with (
        service.client() as client,
        service.client() as other,
        submitted(client, SHARED, name="long-watched"),
        chromium() as browser,
        opened(browser, service) as rows,
        opened(browser, service) as bursts,
    ):
        rows.goto("/#/jobs/long-watched")
        bursts.goto("/#/jobs/long-watched/sharing")
        sender = Sender(other, "long-watched", rides(tmp_path, EVENTS), PIECES, PAUSE_SECONDS)
        over = Event()
        going = Thread(target=_send, args=(sender, over), daemon=True)
        going.start()
        try:
            seen = [_after(60, rows, bursts, service) for _ in range(MINUTES)]
        finally:
            over.set()
            going.join()
        record_property("bytes", seen)
        record_property("updates", sender.sent)
        assert sender.sent > MINUTES * 60, "fewer updates than one a second"
        warm, last = seen[WARMING_MINUTES : 2 * WARMING_MINUTES], seen[-WARMING_MINUTES:]
        for name, most in (("rows", GROWTH), ("bursts", GROWTH), ("service", SERVICE_GROWTH)):
            # A single moment may have objects that are about to go.
            assert median(one[name] for one in last) <= median(one[name] for one in warm) * most, seen


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
