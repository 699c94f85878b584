"""All jobs as the pages of all browsers see them: one look at their status a second, however many pages are open."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

LOOK_SECONDS = 1.0
"""Least seconds between two looks at the status of all jobs; none happens while no page is open."""

RATE_SECONDS = 5.0
"""Seconds over which rates are averaged."""

KEPT_SAMPLES = 120
"""Samples of each job that a page gets when it opens."""

GAP_SECONDS = 10.0
"""Seconds without a look after which older samples say nothing about now."""

LEFT_OUT = ("workload", "columns")
"""Parts of a job's document that can be large, and that pages ask for by themselves."""

Documents = Callable[[], list[dict[str, Any]]]


@dataclass
class Watched:
    """A job, and how its counters grew lately."""

    document: dict[str, Any] = field(default_factory=dict)
    changed: int = 0
    """The number of the look that found the document changed."""
    counts: deque[tuple[float, float, float]] = field(default_factory=lambda: deque(maxlen=KEPT_SAMPLES))
    """Monotonic seconds, events and rows at each look."""
    rates: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT_SAMPLES))
    """Events a second at each look."""

    def note(self, document: Mapping[str, Any], number: int, now: float) -> None:
        metrics = document["metrics"]
        if self.counts and now - self.counts[-1][0] > GAP_SECONDS:
            self.counts.clear()
            self.rates.clear()
        self.counts.append((now, metrics["events"], metrics["rows"]))
        events, rows = self._rate(1), self._rate(2)
        self.rates.append(events)
        found = {name: value for name, value in document.items() if name not in LEFT_OUT}
        found |= {"events_rate": events, "rows_rate": rows}
        if found != self.document:
            self.document, self.changed = found, number

    def _rate(self, which: int) -> float:
        """Return the growth per second; counters of a job that was restored may be smaller than before."""
        last = self.counts[-1]
        first = next(one for one in self.counts if last[0] - one[0] <= RATE_SECONDS)
        return round(max(0.0, last[which] - first[which]) / (last[0] - first[0]), 2) if last[0] > first[0] else 0.0


class JobsView:
    """The jobs of a service, read at most once a second: requests in between get the same values."""

    def __init__(self, documents: Documents, clock: Callable[[], float] = monotonic) -> None:
        self.number = 0
        """The number of times that the jobs were read."""
        self._documents, self._clock = documents, clock
        self._jobs: dict[str, Watched] = {}
        self._gone: deque[tuple[int, str]] = deque(maxlen=KEPT_SAMPLES)
        self._looked = float("-inf")
        self._lock = asyncio.Lock()

    async def look(self) -> None:
        """Look at the jobs, unless another page did so within the last second."""
        async with self._lock:
            if self._clock() - self._looked >= LOOK_SECONDS:
                found = await asyncio.to_thread(self._documents)
                self._looked = self._clock()
                self._note(found)

    def since(self, number: int | None) -> dict[str, Any]:
        """Return what changed after a look; all jobs, with their last rates, if the number is None or too old."""
        oldest = self._gone[0][0] if len(self._gone) == self._gone.maxlen else 0
        if number is None or not oldest <= number <= self.number:
            jobs = [{**one.document, "rates": list(one.rates)} for one in self._jobs.values()]
            return {"all": True, "jobs": jobs, "gone": []}
        jobs = [one.document for one in self._jobs.values() if one.changed > number]
        return {"all": False, "jobs": jobs, "gone": [name for at, name in self._gone if at > number]}

    def _note(self, found: Iterable[dict[str, Any]]) -> None:
        self.number += 1
        documents = {document["id"]: document for document in found}
        for name in self._jobs.keys() - documents.keys():
            del self._jobs[name]
            self._gone.append((self.number, name))
        for name, document in documents.items():
            self._jobs.setdefault(name, Watched()).note(document, self.number, self._looked)
