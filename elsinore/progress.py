"""A bar on stderr while a run lasts. It looks at the run now and then; the run knows nothing of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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


class _Bar(Progress):
    def __init__(self, job: Job) -> None:
        self.job = job
        columns = (
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[events]:,} events"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        super().__init__(*columns, console=Console(stderr=True), transient=True)
        self.run_task = self.add_task("", total=None, events=0)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Called at each refresh: the moment to look."""
        if self.tasks:
            done = self.job.source.progress()
            events = self.job.run.metrics.events
            self.update(self.run_task, total=None if done is None else 1.0, completed=done or 0.0, events=events)
        yield from super().get_renderables()
