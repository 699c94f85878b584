"""A bar on stderr while a run lasts. It looks at the run now and then; the run knows nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from elsinore.api import Job


@contextmanager
def bar(job: Job, shown: bool) -> Iterator[None]:
    """Show how far the run has come, for as long as the block lasts; leave nothing behind."""
    if not shown:
        yield
        return
    with _Bar(job):
        yield


@contextmanager
def counting(total: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar for work that says itself how much of a known total each step has done."""
    progress = Progress(
        *_columns("{task.completed:,}"), console=Console(stderr=True), transient=True, disable=not shown
    )
    with progress:
        task = progress.add_task("", total=total)
        yield lambda done: progress.advance(task, done)


def _columns(events: str) -> tuple[ProgressColumn, ...]:
    return (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{events} events"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )


class _Bar(Progress):
    def __init__(self, job: Job) -> None:
        self.job = job
        super().__init__(*_columns("{task.fields[events]:,}"), console=Console(stderr=True), transient=True)
        self.run_task = self.add_task("", total=None, events=0)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Called at each refresh: the moment to look."""
        if self.tasks:
            done = self.job.source.progress()
            events = self.job.run.metrics.events
            self.update(self.run_task, total=None if done is None else 1.0, completed=done or 0.0, events=events)
        yield from super().get_renderables()
