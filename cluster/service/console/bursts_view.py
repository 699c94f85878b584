"""The last bursts of a job, with the decision about each, numbered as they are found.

Of a job that finds matches, a burst is what a batch added to a node of the plan whose matches are stored.

Graph actors keep their last decisions (the setting `decisions`). They are asked at most once a second, and only while
a page shows them. The record has no numbers: a decision is new if the reply before had fewer like it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pyarrow as pa

from elsinore.calendar_years import rows_as_python

LOOK_SECONDS = 1.0
"""Least seconds between two requests to the graph actors of a job."""

KEPT_BURSTS = 600
"""Bursts of a job that are kept for pages; the last ones."""

Ask = Callable[[], Awaitable[Sequence[Sequence[pa.Table]]]]
"""Returns tables of decisions, and tables of stored matches."""


@dataclass
class Work:
    """What was taken in and stored, and how much it were if no query shared its work."""

    taken: int = 0
    """Events that shared graphs have taken in, and how many it were if each query took in its own."""
    apart: int = 0
    stored: int = 0
    """Matches of nodes that are stored, and how many it were if each query stored its own."""
    stored_apart: int = 0

    def add(self, burst: dict[str, Any]) -> None:
        """Count a burst, or what a batch added to a stored node, which is kept once for all its queries.

        The events of a burst go once into a graphlet that queries share, and once into that of each other query.
        """
        if "matches" in burst:
            self.stored += burst["matches"]
            self.stored_apart += burst["matches"] * len(burst["queries"])
            return
        shared, alone = len(burst["shared"]), len(burst["apart"])
        self.taken += burst["events"] * (alone + (shared > 0))
        self.apart += burst["events"] * (alone + shared)


class BurstsView:
    """The bursts of one job since a page first showed them."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.work = Work()
        self._clock = clock
        self._known: Counter[str] = Counter()
        self._kept: deque[tuple[int, str]] = deque(maxlen=KEPT_BURSTS)
        self._number = 0
        self._looked = float("-inf")
        self._lock = asyncio.Lock()

    async def look(self, ask: Ask) -> None:
        """Ask for the decisions, unless another page did so within the last second."""
        async with self._lock:
            if self._clock() - self._looked >= LOOK_SECONDS:
                self._looked = self._clock()
                self._note(await ask())

    def since(self, number: int | None) -> tuple[int, list[str]]:
        """Return the number of the last burst, and as JSON those after a number; the last ones if it is too old."""
        first = -1 if number is None or number > self._number else number
        return self._number, [burst for at, burst in self._kept if at > first]

    def _note(self, found: Sequence[Sequence[pa.Table]]) -> None:
        rows = [row for parts in found for row in _rows(parts)]
        texts = [json.dumps(row, default=str) for row in rows]
        new, self._known = Counter(texts) - self._known, Counter(texts)
        for row, text in zip(rows, texts, strict=True):
            if new[text]:
                new[text] -= 1
                self._number += 1
                self._kept.append((self._number, text))
                self.work.add(row)


def _rows(parts: Sequence[pa.Table]) -> list[dict[str, Any]]:
    if not parts:
        return []
    return rows_as_python(pa.concat_tables(parts, promote_options="permissive").sort_by("time"))
