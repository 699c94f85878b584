"""The status of a job, and the receipt for events sent to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from elsinore.client.error_replies import exception


@dataclass(frozen=True)
class Sent:
    """The receipt for events that were sent: all of them are safe on the service's disk."""

    __module__ = "elsinore"

    events: int = 0
    batches: int = 0
    repeated: int = 0
    """Events among them that the service already had from an earlier attempt."""

    def __str__(self) -> str:
        known = f", {self.repeated:,} of them sent before" if self.repeated else ""
        return f"{self.events:,} events in {self.batches:,} {'batch' if self.batches == 1 else 'batches'}{known}"


@dataclass(frozen=True, repr=False)
class JobStatus:
    """The status of a job at the time of the request."""

    __module__ = "elsinore"

    id: str
    state: str
    """waiting, running, paused, recovering or failed."""
    workload: str
    queries: tuple[str, ...]
    strategy: str
    numeric: str
    lateness: float
    columns: Mapping[str, str]
    """Attributes of its events, with their types, as far as the service knows them."""
    created: str
    metrics: SimpleNamespace
    """The job's counts by name: events, rows, late, dead, and others."""
    document: Mapping[str, Any]
    """The service's whole JSON document about the job."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> JobStatus:
        return cls(
            document["id"],
            document["state"],
            document["workload"],
            tuple(document["queries"]),
            document["strategy"],
            document["numeric"],
            float(document["lateness"]),
            document.get("columns") or {},
            str(document["created"]),
            SimpleNamespace(**(document.get("metrics") or {})),
            document,
        )

    @property
    def error(self) -> Exception | None:
        """Return the error over which the job failed, or None."""
        problem = self.document.get("error")
        return exception(problem, self.workload) if problem else None

    def __repr__(self) -> str:
        count = len(self.queries)
        facts = [self.state, f"{count:,} {'query' if count == 1 else 'queries'}"]
        facts += [
            f"{getattr(self.metrics, name):,} {name}" for name in ("events", "rows") if hasattr(self.metrics, name)
        ]
        return f"<{self.id}: {', '.join(facts)}>"
