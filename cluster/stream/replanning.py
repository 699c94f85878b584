"""Look for better plans of a live stream by its statistics, without making a batch wait.

From time to time the driver asks the optimizer actor for the statistics that it gathered from graph actors. A thread
then looks for a better plan of each route.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Thread
from time import monotonic
from typing import Any

import ray
from ray.exceptions import RayError

from elsinore.actors.shells.replanner import Patience, Replanner, chooses
from elsinore.cluster.stream.terms import Terms
from elsinore.planner.costs.drift import Observed
from elsinore.planner.plans.routes import workload_along

DRIVER_PATIENCE = Patience()


def is_wanted(strategy: str, seconds: float) -> bool:
    """Return whether to look for better plans: the setting is not 0, and the strategy chooses plans by statistics."""
    return seconds > 0 and chooses(strategy)


class Replanning:
    """The search for better plans in one era, at most every `seconds`, beginning `seconds` after the era."""

    def __init__(self, terms: Terms, optimizer: Any, stream: str, seconds: float) -> None:
        self.better: Terms | None = None
        """The terms with statistics for which other plans pay; None until there are such."""
        self._terms = terms
        self._optimizer = optimizer
        self._stream = stream
        """The name of the stream at the optimizer actor; empty if better plans are not wanted."""
        self._seconds = seconds
        self._next = monotonic() + seconds
        self._request: Any = None
        self._searching = False
        self._routes = terms.routes if stream else ()
        self._workloads = [workload_along(route, terms.queries) for route in self._routes]
        self._least = [max(query.within.length for query in one.queries) for one in self._workloads]
        """By route, the least seconds that its statistics span: its longest window, so that changes do not pile up."""
        self._replanners: dict[int, Replanner] = {}

    def poll(self) -> None:
        """Advance the search after a batch, without waiting: ask for statistics, or read the reply if it is here."""
        if not self._stream or self._searching or self.better is not None:
            return
        if self._request is not None:
            self._read_reply()
        elif monotonic() >= self._next:
            self._request = self._optimizer.observed.remote(self._stream, self._least)

    def _read_reply(self) -> None:
        if not ray.wait([self._request], timeout=0)[0]:
            return
        try:
            seen: list[Observed | None] = ray.get(self._request)
        except RayError:
            # The optimizer actor's statistics are lost. Ray restarts it, and graph actors report to it from now on.
            seen = []
        self._request, self._next = None, monotonic() + self._seconds
        if any(one is not None for one in seen):
            self._searching = True
            Thread(target=self._search, args=(seen,), name="elsinore-replanning", daemon=True).start()

    def _search(self, seen: Sequence[Observed | None]) -> None:
        try:
            found = {
                self._routes[number].way: one
                for number, one in enumerate(seen)
                if one is not None and self._replanner(number).observe(one) is not None
            }
            if found:
                self.better = replace(self._terms, statistics={**self._terms.statistics, **found})
        finally:
            self._searching = False

    def _replanner(self, number: int) -> Replanner:
        """Return the replanner of a route, which begins with the plan that the graph actors have."""
        if number not in self._replanners:
            known = self._terms.statistics.get(self._routes[number].way)
            self._replanners[number] = Replanner(
                self._workloads[number], self._terms.strategy, patience=DRIVER_PATIENCE, seen=known, kept=False
            )
        return self._replanners[number]

    def close(self) -> None:
        """Have the optimizer actor forget the statistics of this era."""
        if self._stream and ray.is_initialized():
            self._optimizer.forget.options(num_returns=0).remote(self._stream)
