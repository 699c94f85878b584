"""The history of a job: what happened to it, when and why. The manager writes it, and nothing relies on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any

from elsinore.cluster.service.jobs import Spec, StoredJob, workload_of

if TYPE_CHECKING:
    from elsinore.cluster.stream.live import Live

KEPT_ENTRIES = 200
"""Entries of a job that are kept, the last ones."""


@dataclass
class History:
    """The history of a job, and what was seen of its stream so far."""

    job: StoredJob
    replanned: int = 0
    replaced: int = 0
    watched: Live | None = field(default=None, repr=False)

    def note(self, what: str, why: str = "") -> None:
        """Add an entry; the first one of a job is that it was submitted."""
        entries = self.job.history() or [_submitted(self.job.spec())]
        entries.append({"time": time(), "what": what, "why": why})
        self.job.put_history(entries[-KEPT_ENTRIES:])

    def changed(self, before: str, after: str) -> None:
        """Note which queries were added and dropped."""
        old, new = ([query.name for query in workload_of(text).queries] for text in (before, after))
        for what, names in (("queries added", _without(new, old)), ("queries dropped", _without(old, new))):
            if names:
                self.note(what, ", ".join(names))

    def watch(self, live: Live) -> None:
        """Note what the stream did by itself since it was watched last."""
        if live is not self.watched:
            self.watched, self.replaced, self.replanned = live, live.replaced, live.metrics.replanned
        if live.metrics.replanned > self.replanned:
            self.note("replanned", "by the statistics of the stream another plan costs less")
        if live.replaced > self.replaced:
            self.note("recovered", "a graph actor died; another one took over its state and the batches since")
        self.replaced, self.replanned = live.replaced, live.metrics.replanned


def entries_of(job: StoredJob) -> list[dict[str, Any]]:
    """Return the entries of a job, oldest first."""
    return job.history() or [_submitted(job.spec())]


def _submitted(spec: Spec) -> dict[str, Any]:
    return {"time": spec.created, "what": "submitted", "why": ""}


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]
