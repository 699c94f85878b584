"""Progress bars on stderr. A bar polls the run at each refresh; the run does not know of the bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from elsinore.planner.kernels.kernel_folder import compiling


class Counted(Protocol):
    """What counts while it runs; `metrics` has the counters by name."""

    @property
    def metrics(self) -> Any: ...


class BoundedRun(Protocol):
    """A run that has an end, as `prepare` returns it."""

    @property
    def run(self) -> Counted: ...
    @property
    def progress(self) -> Callable[[], float | None]: ...


class UnboundedRun(Counted, Protocol):
    """A live stream."""

    @property
    def state(self) -> str: ...


@contextmanager
def bar(job: BoundedRun, shown: bool) -> Iterator[None]:
    """Show the progress of a run while the block runs."""
    with _RunBar(job, shown):
        yield


@contextmanager
def counting(total: int | None, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs, and yield the function that advances it; `total` is None if unknown."""
    with _Bar("{task.completed:,} events", shown) as progress:
        task = progress.add_task("", total=total)
        yield lambda done: progress.advance(task, done)


@contextmanager
def tasks_bar(total: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar of tasks while the block runs, and yield a function that counts one, given the kernels by then."""
    with _Bar("{task.fields[kernels]} kernels compiled", shown) as progress:
        task = progress.add_task("", total=total, kernels=0)
        yield lambda kernels: progress.update(task, advance=1, kernels=kernels)


@contextmanager
def live_line(live: UnboundedRun, shown: bool) -> Iterator[None]:
    """Show the counts of a live stream in one line while the block runs."""
    with _LiveLine(live, shown):
        yield


class _OnStderr(Progress):
    """A progress display on stderr that disappears at the end. Stdout is left alone: rows go there."""

    def __init__(self, *columns: ProgressColumn, shown: bool) -> None:
        # Use a duplicate of the descriptor: while Spark starts, the session redirects stderr itself to a log.
        self._file = os.fdopen(os.dup(2), "w")
        super().__init__(
            *columns,
            console=Console(file=self._file),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not shown,
        )

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._file.close()


class _Bar(_OnStderr):
    def __init__(self, text: str, shown: bool) -> None:
        super().__init__(
            BarColumn(),
            TaskProgressColumn(),
            TextColumn(text),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            shown=shown,
        )


class _RunBar(_Bar):
    def __init__(self, job: BoundedRun, shown: bool) -> None:
        self.job = job
        super().__init__("{task.fields[text]}", shown)
        self.run_task = self.add_task("", total=None, text="")

    def get_renderables(self) -> Iterable[RenderableType]:
        """Poll the run; rich calls this at each refresh."""
        if self.tasks:
            done, metrics = self.job.progress(), self.job.run.metrics
            shared = f", {metrics.shared_bursts / metrics.bursts:.0%} of bursts shared" if metrics.bursts else ""
            text = f"{metrics.events:,} events, {metrics.rows:,} rows{shared}{_busy()}"
            self.update(self.run_task, total=None if done is None else 1.0, completed=done or 0.0, text=text)
        yield from super().get_renderables()


class _LiveLine(_OnStderr):
    def __init__(self, live: UnboundedRun, shown: bool) -> None:
        self.told = live
        self.rate = 0.0
        self.seen = (monotonic(), 0)
        super().__init__(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), shown=shown)
        self.line = self.add_task("", total=None)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Poll the run; rich calls this at each refresh."""
        if self.tasks:
            told, (before, events) = self.told.metrics, self.seen
            now = monotonic()
            if now - before >= 1 or not events:
                self.rate = (told.events - events) / max(now - before, 1e-9)
                self.seen = (now, told.events)
            shared = f", {told.shared_bursts / told.bursts:.0%} of bursts shared" if told.bursts else ""
            text = f"{told.events:,} events, {self.rate:,.0f} a second, {told.rows:,} rows, {told.batches:,} batches"
            waits = "waiting for the first file, " if self.told.state == "waiting" else ""
            self.update(self.line, description=waits + text + shared + _busy())
        yield from super().get_renderables()


def _busy() -> str:
    """Return the reason for which the counts may stand still: kernels are being compiled."""
    return ", kernels are being compiled, once on this machine" if compiling() else ""
