"""The jobs of a service as a table on the terminal, printed once or refreshed until Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from elsinore.client.facts import JobStatus
    from elsinore.client.waiting import Client

COUNTS = ("events", "rows", "late", "dead")
STATES = {"running": "green", "failed": "red", "paused": "yellow", "recovering": "yellow"}
PIPE_WIDTH = 200
"""Characters per line when stdout is not a terminal."""


class Rates:
    """The event rate of each job, in events per second between two polls."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float]] = {}

    def of(self, jobs: Sequence[JobStatus], now: float) -> dict[str, float]:
        found = {}
        for job in jobs:
            events = float(getattr(job.metrics, "events", 0))
            before = self._before.get(job.id)
            if before is not None and now > before[0]:
                found[job.id] = max(0.0, events - before[1]) / (now - before[0])
            self._before[job.id] = (now, events)
        return found


def board(jobs: Sequence[JobStatus], rates: dict[str, float]) -> RenderableType:
    """Return a table with a line for each job, and the errors of failed jobs below it."""
    if not jobs:
        return Text("no jobs")
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("job", no_wrap=True)
    table.add_column("state")
    for name in ("queries", *COUNTS, "events/s"):
        table.add_column(name, justify="right")
    table.add_column("latest")
    for job in jobs:
        counts = [_number(getattr(job.metrics, name, 0)) for name in COUNTS]
        rate = _number(rates[job.id]) if job.id in rates else ""
        latest = getattr(job.metrics, "latest", None)
        state = Text(job.state, style=STATES.get(job.state, ""))
        table.add_row(Text(job.id), state, _number(len(job.queries)), *counts, rate, Text(str(latest or "")))
    return Group(table, *(Text(f"{job.id}: {job.error}") for job in jobs if job.error is not None))


def show(jobs: Sequence[JobStatus]) -> None:
    """Print the table once on stdout."""
    console = Console()
    (console if console.is_terminal else Console(width=PIPE_WIDTH)).print(board(jobs, {}))


def watch(client: Client, every: float = 1.0) -> None:
    """Poll the service and refresh the table until Ctrl-C; print it once if stdout is not a terminal."""
    console = Console()
    if not console.is_terminal:
        show(all_jobs(client))
        return
    rates = Rates()
    with suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False) as live:
        while True:
            jobs = all_jobs(client)
            live.update(board(jobs, rates.of(jobs, monotonic())), refresh=True)
            sleep(every)


def all_jobs(client: Client) -> list[JobStatus]:
    """Return the current status of all jobs."""
    return [job.known for job in client.jobs()]


def _number(value: float) -> str:
    return f"{value:,.0f}"
