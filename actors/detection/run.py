"""Execution of the queries that return matches along one route: batches in, matches out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.entries import Clocked, Leaves
from elsinore.actors.detection.finder import Finder
from elsinore.actors.detection.joins.planned import Planned
from elsinore.actors.detection.joins.sources import Joined
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.searching import Search
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock

Ints = npt.NDArray[np.int64]


class DetectionRun:
    """The queries of one route: their events are split into partitions by the same attributes.

    The state is the events of the largest window. Each batch yields the matches that end in it; a query with NOT at the
    end yields a match when the window that its first event begins is over.
    """

    def __init__(
        self,
        queries: Sequence[Query],
        clock: Clock,
        partitions: Partitions,
        strategy: str = "auto",
        most_matches: int | None = None,
    ) -> None:
        """`queries` are resolved and checked. With more than `most_matches` of one of them, listing raises an error."""
        self.partitions = partitions
        self.most_matches = most_matches
        self.listed = Counter[str]()
        """By query, how many matches were listed."""
        self.finders = [Finder(normal_form(query), _span(query, clock)) for query in queries]
        self.planned = Planned([finder.members() for finder in self.finders], strategy)
        contiguous = any(query.semantics == "contiguous" for query in queries)
        self.window = Window(None if contiguous else frozenset[str]().union(*(query.types for query in queries)))
        self.pending = [START] * len(self.finders)
        """By query that looks ahead, the time from which on first events of matches are still to be searched."""

    def process(self, batch: Batch, places: Ints | None = None) -> Iterator[Matches]:
        """Take in events, sorted by time; events of one time come in one batch. Yield the matches that end with them.

        `places`: by event, how many events of the whole stream are earlier; for queries whose windows count events.
        """
        for some, its_places in self._slices(batch, places):
            yield from self._matches(self.begin(some, its_places))

    def _slices(self, batch: Batch, places: Ints | None) -> Iterator[tuple[Batch, Ints | None]]:
        """Yield a batch in slices, so that the matches that are stored of each fit into memory."""
        lo, count = 0, len(batch.times)
        while True:
            hi = self._cut(batch.times, lo + self.planned.slice_events)
            if hi == count:
                yield batch.slice(lo, hi, batch.later), None if places is None else places[lo:]
                return
            yield batch.slice(lo, hi, int(batch.times[hi])), None if places is None else places[lo:hi]
            lo = hi

    def _cut(self, times: Ints, at: int) -> int:
        """Return the place behind the events of one time."""
        return len(times) if at >= len(times) else int(np.searchsorted(times, times[at - 1], side="right"))

    def begin(self, batch: Batch, places: Ints | None = None) -> list[Search]:
        """Take in events as `process` does, and return the searches that would find the matches.

        Each can list its matches, or count them, or list some of them by number; LIMIT is left to `process`.
        """
        before = self.window.extend(batch, places)
        reached = int(places[-1]) + 1 if places is not None and len(places) else None
        searches = [*self._found(before), *self._expired(batch.later, reached)]
        self._forget(batch.later, reached)
        return searches

    def whole(self, batch: Batch, places: Ints | None = None) -> list[Search]:
        """Return a search for each query over the events of a whole stream, which come in one batch."""
        self.window.extend(batch, places)
        return [*self._found(0), *self._expired(END, END)]

    def settle(self, time: int, place: int | None = None) -> Iterator[Matches]:
        """Yield the matches that are known now that no event older than `time` will come.

        `place`: the number of events of the whole stream before that time.
        """
        searches = self._expired(time, place)
        self._forget(time, place)
        return self._matches(searches)

    def finish(self) -> Iterator[Matches]:
        """End the stream, and yield the matches that waited for it."""
        return self._matches(self._expired(END, END))

    def _expired(self, time: int, place: int | None) -> list[Search]:
        """Return searches of queries that look ahead, for the matches whose window is over."""
        found: list[tuple[Finder, int, int]] = []
        for number, finder in enumerate(self.finders):
            now = place if finder.counts_events else time
            if not finder.ahead or not len(self.window) or now is None:
                continue
            ticks = self.window.ticks(finder.counts_events)
            lo = int(np.searchsorted(self.window.times, self.pending[number]))
            hi = len(ticks) if now == END else int(np.searchsorted(ticks, now - finder.span, side="right"))
            if hi > lo:
                found.append((finder, lo, hi))
                self.pending[number] = int(self.window.times[hi - 1]) + 1
        return self._searches(found)

    def _found(self, lo: int) -> list[Search]:
        """Return searches for the matches that end with the events from a row on."""
        hi = len(self.window)
        return self._searches([(one, lo, hi) for one in self.finders if not one.ahead], (lo, hi)) if hi > lo else []

    def _searches(self, asked: Sequence[tuple[Finder, int, int]], new: tuple[int, int] | None = None) -> list[Search]:
        """Return the searches that are asked for; `new`: the rows that are new, for what is stored of them."""
        window = copy(self.window)
        leaves = Leaves(window)
        events = {
            counts: Joined(leaves, Clocked.of(window, counts, self._longest(counts)))
            for counts in dict.fromkeys(finder.counts_events for finder, _, _ in asked)
        }
        planned = self.planned.extend(events, *new) if new else {}
        return [
            finder.search(window, events[finder.counts_events], lo, hi, planned.get(finder.form.query.name, {}))
            for finder, lo, hi in asked
        ]

    def _longest(self, counts_events: bool) -> int:
        return max(finder.span for finder in self.finders if finder.counts_events == counts_events)

    def _matches(self, searches: Iterable[Search]) -> Iterator[Matches]:
        for search in searches:
            query = search.form.query
            limit = None if query.limit is None else partial(self._limited, query.limit)
            for found in search.matches(limit):
                self.listed[query.name] += len(found)
                if self.most_matches is not None and self.listed[query.name] > self.most_matches:
                    raise _too_many(query, self.most_matches)
                yield found

    def _limited(self, most: int, matches: Matches) -> Matches:
        return matches.limited(most, self.partitions.group_of[matches.slot])

    def _forget(self, time: int, place: int | None) -> None:
        """Drop the events that no match to come can have in its window."""
        if not len(self.window):
            return
        needed = len(self.window)
        for number, finder in enumerate(self.finders):
            ticks = self.window.ticks(finder.counts_events)
            now = place if finder.counts_events else time
            if now is None:
                return
            if finder.ahead:
                first = int(np.searchsorted(self.window.times, self.pending[number]))
                now = min(now, int(ticks[first])) if first < len(ticks) else now
            needed = min(needed, int(np.searchsorted(ticks, max(now - finder.span, START + 1), side="right")))
        self.window.drop(needed)
        self.planned.drop(needed)

    def keep(self, kept: Ints) -> None:
        """Keep these partitions alone, in this order."""
        self.window.keep(kept, int(self.window.slots.max(initial=-1)) + 1)
        self.planned.clear()

    def save(self) -> dict[str, Any]:
        return {"window": self.window.save(), "pending": list(self.pending)}

    def load(self, state: dict[str, Any]) -> None:
        self.window.load(state["window"])
        self.planned.clear()
        self.pending = list(state["pending"])


def _too_many(query: Query, most: int) -> WorkloadError:
    """Return the error that ends a run before its matches fill the memory."""
    message = f"{query.name} has more than {most:,} matches, which is what a run lists at most"
    hint = (
        "bound repetitions with {n,m}, choose skip-till-next-match, add LIMIT n, count trends with RETURN COUNT(*), "
        "set most_matches, or look at elsinore.matches(...), which counts matches and lists some"
    )
    return WorkloadError([Problem(message, hint, query.pattern.place, query.name)])


def _span(query: Query, clock: Clock) -> int:
    """Return the length of a query's windows on their clock."""
    return int(query.within.amount) if query.counts_events else clock.ticks(query.within.seconds)
