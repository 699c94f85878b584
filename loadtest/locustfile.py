"""Users for Locust: each submits a workload, sends it a stream of rides, and reads and checks the rows.

Locust patches sockets when it is imported, so it must come before any module that uses them.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any, TypeVar

import pyarrow.parquet as pq
from locust import LoadTestShape, User, constant, events, task

import elsinore
from loadtest.ledger import Ledger
from loadtest.shapes import MOST, SHAPES
from loadtest.stream import BATCH, END, WORKLOAD, appends

OUT = Path(os.environ["LOADTEST_OUT"])
SECONDS = float(os.environ["LOADTEST_SECONDS"])
SHAPE = SHAPES[os.environ["LOADTEST_SHAPE"]]

AHEAD = 64 * BATCH
"""Most events that a user has sent and its job has not processed, so that no user sends faster than its job."""

PATIENCE = 300.0
"""Seconds after the last event within which all rows have to come."""

NUMBERS = count()

logging.getLogger("httpx2").setLevel(logging.WARNING)
T = TypeVar("T")


class Phases(LoadTestShape):
    """The load: as many users as the shape says, for as long as the test lasts."""

    def tick(self) -> tuple[int, float] | None:
        done = (perf_counter() - self.start_time) / SECONDS
        return (SHAPE(done), MOST) if done < 1 else None


class Rider(User):
    """A user with a job and a stream of its own."""

    wait_time = constant(0)

    def on_start(self) -> None:
        self.number = next(NUMBERS)
        self.ledger, self.stream = Ledger(), appends(self.number)
        self.sent, self.appends, self.taken, self.looked = 0, 0, 0, 0.0
        self.cursor: str | None = None
        self.reported = 0
        self.client = elsinore.connect(self.host or "", patience=120)
        self.job = self.timed("submit", lambda: self.client.submit(WORKLOAD, columns=next(appends(0)).schema))
        self.acknowledged: list[tuple[float, int]] = []

    @task
    def send(self) -> None:
        """Send the next append, unless the job is far behind."""
        if self.sent - self.taken > AHEAD:
            self.look()
            sleep(0.1)
            return
        rides = next(self.stream)
        self.ledger.note(rides)
        self.timed("append", lambda: self.job.send(rides))
        self.sent += len(rides)
        self.appends += 1
        self.acknowledged.append((monotonic(), len(rides)))
        if self.appends % 4 == 0:
            self.look()
            self.read()

    def look(self) -> None:
        """Ask how many events the job has taken."""
        self.taken = int(self.timed("status", self.job.status).metrics.events)

    def read(self) -> bool:
        """Read and check a page of rows, and return whether there was one."""
        page = self.timed("rows", lambda: next(self.job.pages(after=self.cursor), None))
        if page is None:
            return False
        self.cursor = page.cursor
        self.ledger.check(page.rows())
        for wrong in self.ledger.wrong[self.reported :]:
            self.fail("row", wrong)
        self.reported = len(self.ledger.wrong)
        return True

    def on_stop(self) -> None:
        """End all windows, wait for all rows, and save them for `loadtest.summary`, which counts the trends."""
        self.timed("append", lambda: self.job.send(END))
        end = monotonic() + PATIENCE
        while not self.ledger.complete and monotonic() < end:
            if not self.read():
                sleep(0.2)
        while self.read():
            pass
        for key in list(self.ledger.due)[:10]:
            self.fail("row", f"the row of {key} did not come within {PATIENCE:.0f} seconds")
        self.keep()
        self.timed("remove", self.job.remove)
        self.client.close()

    def keep(self) -> None:
        """Save what was sent and what came, to be compared after the load."""
        folder = OUT / "users"
        folder.mkdir(parents=True, exist_ok=True)
        rows = self.timed("result", self.job.result).to_arrow()
        self.count()
        pq.write_table(rows, folder / f"{self.number}.parquet")
        document = {
            "number": self.number,
            "appends": self.appends,
            "events": self.sent,
            "checked": self.ledger.checked,
            "wrong": self.ledger.wrong[:100],
            "missing": len(self.ledger.due),
            "acknowledged": self.acknowledged,
            "taken_at": monotonic(),
            "metrics": vars(self.job.status().metrics),
        }
        (folder / f"{self.number}.json").write_text(json.dumps(document))

    def count(self) -> None:
        """Wait until the job has counted all events: it reports them a little after it has processed them."""
        end = monotonic() + PATIENCE
        while self.taken < self.sent + len(END) and monotonic() < end:
            sleep(0.1)
            self.look()

    def timed(self, name: str, call: Callable[[], T]) -> T:
        """Return the result of a call, and report how long it took."""
        started_at = monotonic()
        try:
            result = call()
        except Exception as error:
            self.report(name, started_at, error)
            raise
        self.report(name, started_at, None)
        return result

    def report(self, name: str, started_at: float, error: Exception | None) -> None:
        self.environment.events.request.fire(
            request_type="HTTP",
            name=name,
            response_time=(monotonic() - started_at) * 1000,
            response_length=0,
            exception=error,
        )

    def fail(self, name: str, message: str) -> None:
        self.report(name, monotonic(), AssertionError(message))
        sys.stderr.write(f"{message}\n")


def keep_latencies(environment: Any, **_: Any) -> None:
    """Save Locust's measurements of each kind of request for the summary."""
    document = {}
    for (name, _), entry in environment.stats.entries.items():
        parts = {f"p{part}": entry.get_response_time_percentile(part / 100) for part in (50, 95, 99)}
        document[name] = {"requests": entry.num_requests, "failures": entry.num_failures, **parts}
    seconds = environment.stats.total.last_request_timestamp - environment.stats.total.start_time
    (OUT / "latencies.json").write_text(json.dumps({"seconds": seconds, "requests": document}))


events.quitting.add_listener(keep_latencies)
