"""Execution of the queries that return matches along one route: batches in, matches out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.entries import Clocked, Leaves
from elsinore.actors.detection.finder import Finder
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock

Ints = npt.NDArray[np.int64]


class DetectionRun:
    """The queries of one route: their events are split into partitions by the same attributes.

    The state is the events of the largest window. Each batch yields the matches that end in it; a query with NOT at the
    end yields a match when the window that its first event begins is over.
    """

    def __init__(self, queries: Sequence[Query], clock: Clock, partitions: Partitions) -> None:
        """`queries` are resolved and checked."""
        self.partitions = partitions
        self.finders = [Finder(normal_form(query), _span(query, clock)) for query in queries]
        contiguous = any(query.semantics == "contiguous" for query in queries)
        self.window = Window(None if contiguous else frozenset[str]().union(*(query.types for query in queries)))
        self.pending = [START] * len(self.finders)
        """By query that looks ahead, the time from which on first events of matches are still to be searched."""

    def process(self, batch: Batch, places: Ints | None = None) -> list[Matches]:
        """Take in events, sorted by time; events of one time come in one batch. Return the matches that end with them.

        `places`: by event, how many events of the whole stream are earlier; for queries whose windows count events.
        """
        before = self.window.extend(batch, places)
        found = self._found(before, len(self.window), ahead=False)
        reached = int(places[-1]) + 1 if places is not None and len(places) else None
        found += self._expired(batch.later if len(batch.times) else START, reached)
        self._forget(batch.later, reached)
        return found

    def settle(self, time: int, place: int | None = None) -> list[Matches]:
        """Return the matches that are known now that no event older than `time` will come.

        `place`: the number of events of the whole stream before that time.
        """
        found = self._expired(time, place)
        self._forget(time, place)
        return found

    def finish(self) -> list[Matches]:
        """End the stream, and return the matches that waited for it."""
        return self._expired(END, END)

    def _expired(self, time: int, place: int | None) -> list[Matches]:
        """Return the matches of queries that look ahead whose first event's window is over."""
        found = []
        for number, finder in enumerate(self.finders):
            if not finder.by_first or not len(self.window):
                continue
            ticks = self.window.ticks(finder.form.query.counts_events)
            now = place if finder.form.query.counts_events else time
            if now is None:
                continue
            lo = int(np.searchsorted(self.window.times, self.pending[number]))
            hi = len(ticks) if now == END else int(np.searchsorted(ticks, now - finder.span, side="right"))
            if hi > lo:
                found += self._search(finder, lo, hi)
                self.pending[number] = int(self.window.times[hi - 1]) + 1
        return found

    def _found(self, lo: int, hi: int, ahead: bool) -> list[Matches]:
        if hi <= lo:
            return []
        return [one for finder in self.finders if finder.by_first == ahead for one in self._search(finder, lo, hi)]

    def _search(self, finder: Finder, lo: int, hi: int) -> list[Matches]:
        clocked = Clocked.of(self.window, finder.form.query.counts_events, finder.span)
        most = finder.form.query.limit
        limit = None if most is None else partial(self._limited, most)
        return list(finder.search(self.window, Leaves(self.window), clocked, lo, hi).matches(limit))

    def _limited(self, most: int, matches: Matches) -> Matches:
        return matches.limited(most, self.partitions.group_of[matches.slot])

    def _forget(self, time: int, place: int | None) -> None:
        """Drop the events that no match to come can have in its window."""
        if not len(self.window):
            return
        needed = len(self.window)
        for number, finder in enumerate(self.finders):
            ticks = self.window.ticks(finder.form.query.counts_events)
            now = place if finder.form.query.counts_events else time
            if now is None:
                return
            if finder.by_first:
                first = int(np.searchsorted(self.window.times, self.pending[number]))
                now = min(now, int(ticks[first])) if first < len(ticks) else now
            needed = min(needed, int(np.searchsorted(ticks, max(now - finder.span, START + 1), side="right")))
        self.window.drop(needed)

    def keep(self, kept: Ints) -> None:
        """Keep these partitions alone, in this order."""
        self.window.keep(kept, int(self.window.slots.max(initial=-1)) + 1)

    def save(self) -> dict[str, Any]:
        return {"window": self.window.save(), "pending": list(self.pending)}

    def load(self, state: dict[str, Any]) -> None:
        self.window.load(state["window"])
        self.pending = list(state["pending"])


def _span(query: Query, clock: Clock) -> int:
    """Return the length of a query's windows on their clock."""
    return int(query.within.amount) if query.counts_events else clock.ticks(query.within.seconds)
