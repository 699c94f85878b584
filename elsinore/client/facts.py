"""What a service tells about a job, and about events that it was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from elsinore.client.refusals import exception


@dataclass(frozen=True)
class Sent:
    """What became of events that were sent: all of them are safe on the service's disk."""

    __module__ = "elsinore"

    events: int = 0
    batches: int = 0
    repeated: int = 0
    """Events of them that the service had already, from an earlier attempt."""

    def __str__(self) -> str:
        known = f", {self.repeated:,} of them known already" if self.repeated else ""
        return f"{self.events:,} events in {self.batches:,} {'batch' if self.batches == 1 else 'batches'}{known}"


@dataclass(frozen=True, repr=False)
class JobStatus:
    """A job as it was when the service was asked."""

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
    """Attributes of its events, with their types, as far as they are known."""
    created: str
    metrics: SimpleNamespace
    """What it has counted: events, rows, late, dead, and so on; numbers, by name."""
    document: Mapping[str, Any]
    """All of that, and whatever else the service tells."""

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
        """What it failed over, if it did."""
        problem = self.document.get("error")
        return exception(problem, self.workload) if problem else None

    def __repr__(self) -> str:
        count = len(self.queries)
        told = [self.state, f"{count:,} {'query' if count == 1 else 'queries'}"]
        told += [
            f"{getattr(self.metrics, name):,} {name}" for name in ("events", "rows") if hasattr(self.metrics, name)
        ]
        return f"<{self.id}: {', '.join(told)}>"
