"""Execution of the queries that return matches along one route: batches in, matches out."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.entries import Clocked, Leaves
from elsinore.actors.detection.finder import Finder
from elsinore.actors.detection.joins.observing import Observation
from elsinore.actors.detection.joins.planned import Planned
from elsinore.actors.detection.joins.record import StoredRecord
from elsinore.actors.detection.joins.sources import COLUMNS, Joined
from elsinore.actors.detection.match_rows import TICKS, ticks_of
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.searching import Limit, Search, united
from elsinore.actors.detection.term_search import JoinedSearch
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.choosing import Chooser, chosen_trees
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock

Ints = npt.NDArray[np.int64]

Share = tuple[int, int]
"""The number of a share of a stream, and how many there are."""

WHOLE: Share = (0, 1)


@dataclass(frozen=True)
class DetectionSetting:
    """What the detection of an engine depends on besides its queries."""

    most_matches: int | None = None
    """With more matches of one query, listing them raises an error."""
    share: Share = WHOLE
    """The part of the stream in which matches are searched, where several engines are given all events."""
    choose: Chooser = chosen_trees
    """How trees for the patterns of many queries are chosen."""
    merged: bool = False
    """Whether rows are merged with those of other engines, and so need the order of their events."""
    recorded: bool = False
    """Whether it is recorded how many matches are stored of each batch."""


ALONE = DetectionSetting()
"""The setting of an engine that searches all matches of its events and chooses plans by itself."""


@dataclass
class Work:
    """Steps, each of which changes the state and yields searches for the matches that are known by it."""

    steps: Iterator[list[Search]]
    found: deque[list[Search]] = field(default_factory=deque)
    """The searches of the steps that were taken, until their matches are."""
    done: bool = False
    """Whether all steps were taken."""


MOST_COLUMNS = 32
"""Columns as long as all events for which there is room at first, however many queries there are."""


class Events:
    """The events of a window on the clocks of queries; each is made when it is first asked for."""

    def __init__(self, window: Window, longest: Callable[[bool], int], queries: int) -> None:
        """`longest`: the longest window by whether it counts events."""
        self.window = window
        self.columns = min(queries * COLUMNS, MOST_COLUMNS)
        self.longest = longest
        self._made: dict[bool, list[Joined]] = {}

    def of(self, counts_events: bool) -> list[Joined]:
        """Return the events in parts: several where the partitions need more ticks than there are."""
        if counts_events not in self._made:
            parts = Clocked.of(self.window, counts_events, self.longest(counts_events))
            self._made[counts_events] = [Joined(Leaves(self.window), part, self.columns) for part in parts]
        return self._made[counts_events]

    def first_parts(self, clocks: Iterable[bool]) -> dict[bool, Joined]:
        return {counts: self.of(counts)[0] for counts in clocks}


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
        setting: DetectionSetting = ALONE,
    ) -> None:
        """`queries` are resolved and checked."""
        self.setting = setting
        self.partitions = partitions
        self.listed = Counter[str]()
        """By query, how many matches were listed."""
        self.finders = [Finder(normal_form(query), _span(query, clock)) for query in queries]
        self.planned = Planned([finder.members() for finder in self.finders], strategy, setting.choose)
        contiguous = any(query.semantics == "contiguous" for query in queries)
        self.window = Window(None if contiguous else frozenset[str]().union(*(query.types for query in queries)))
        self.record = StoredRecord() if setting.recorded else None
        self.pending = [START] * len(self.finders)
        """By query that looks ahead, the time from which on first events of matches are still to be searched."""
        self._work: deque[Work] = deque()
        """The work that is not done yet."""

    def process(self, batch: Batch, places: Ints | None = None) -> Iterator[Matches]:
        """Take in events, sorted by time; events of one time come in one batch. Yield the matches that end with them.

        `places`: by event, how many events of the whole stream are earlier; for queries whose windows count events.
        What is found does not depend on when it is taken: the next batch takes the steps that this one has left.
        """
        self._take_steps()
        return self._matches(self.begin(*some) for some in self._slices(batch, places))

    def _slices(self, batch: Batch, places: Ints | None) -> Iterator[tuple[Batch, Ints | None]]:
        """Yield a batch in slices, so that the matches that are stored of each fit into memory."""
        lo, count = 0, len(batch.times)
        while True:
            hi = self._cut(batch.times, lo + self.planned.next_slice(batch.types[lo:]))
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
        events = self._events()
        searches = [*self._found(before, events), *self._expired(batch.later, reached, events)]
        if self.record is not None and len(batch.times):
            self.record.note(self.planned, int(batch.columns.get(TICKS, batch.times)[0]), len(batch.times))
        self._forget(batch.later, reached)
        return searches

    def whole(self, batch: Batch, places: Ints | None = None) -> list[Search]:
        """Return a search for each query over the events of a whole stream, which come in one batch."""
        self.window.extend(batch, places)
        events = self._events()
        return [*self._found(0, events), *self._expired(END, END, events)]

    def observe(self, batch: Batch, places: Ints | None = None) -> Observation | None:
        """Return what events say of the patterns that are planned; None if there is no such pattern, or no event."""
        self.window.extend(batch, places)
        if not self.planned.patterns or not len(self.window):
            return None
        return Observation(self.planned, self._events().first_parts(self._clocks(self.finders)), len(self.window))

    def settle(self, time: int, place: int | None = None) -> Iterator[Matches]:
        """Yield the matches that are known now that no event older than `time` will come.

        `place`: the number of events of the whole stream before that time.
        """
        return self._matches(self._settled(time, place))

    def _settled(self, time: int, place: int | None) -> Iterator[list[Search]]:
        searches = self._expired(time, place, self._events())
        self._forget(time, place)
        yield searches

    def finish(self) -> Iterator[Matches]:
        """End the stream, and yield the matches that waited for it."""
        return self._matches(self._expired(*one, self._events()) for one in [(END, END)])

    def _expired(self, time: int, place: int | None, events: Events) -> list[Search]:
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
        return self._searches(found, events)

    def _found(self, lo: int, events: Events) -> list[Search]:
        """Return searches for the matches that end with the events from a row on."""
        hi = len(self.window)
        asked = [(one, lo, hi) for one in self.finders if not one.ahead]
        return self._searches(asked, events, (lo, hi)) if hi > lo else []

    def _searches(
        self, asked: Sequence[tuple[Finder, int, int]], events: Events, new: tuple[int, int] | None = None
    ) -> list[Search]:
        """Return the searches that are asked for; `new`: the rows that are new, for what is stored of them."""
        clocks = self._clocks([finder for finder, _, _ in asked])
        planned: dict[str, dict[int, list[JoinedSearch]]] = {}
        if new and all(len(events.of(counts)) == 1 for counts in clocks):
            planned = self.planned.extend(events.first_parts(clocks), *new, self._own(*new))
        elif new:
            # Matches are stored of all partitions together or not at all.
            self.planned.clear()
        return [
            united(
                [
                    finder.search(events.window, part, *self._own(lo, hi), planned.get(finder.form.query.name, {}))
                    for part in events.of(finder.counts_events)
                ]
            )
            for finder, lo, hi in asked
        ]

    def _clocks(self, finders: Sequence[Finder]) -> list[bool]:
        """Return whether windows count events, each way that some queries have once."""
        return list(dict.fromkeys(finder.counts_events for finder in finders))

    def _events(self) -> Events:
        """Return the events that there are now, whatever is added or dropped later."""
        return Events(copy(self.window), self._longest, len(self.finders))

    def _own(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the share of these rows, cut between two times: a match belongs to one of its events' times."""
        number, shares = self.setting.share
        cuts = (lo + (hi - lo) * one // shares for one in (number, number + 1))
        first, end = (
            cut if cut in (lo, hi) else int(np.searchsorted(self.window.times, self.window.times[cut])) for cut in cuts
        )
        return max(lo, first), max(lo, end)

    def _longest(self, counts_events: bool) -> int:
        return max(finder.span for finder in self.finders if finder.counts_events == counts_events)

    def _matches(self, steps: Iterator[list[Search]]) -> Iterator[Matches]:
        """Plan steps, and yield the matches that they find, for the partitions as they are numbered now.

        Each step is taken when the matches of those before it are exhausted.
        """
        work = Work(steps)
        self._work.append(work)
        return self._taken(work, self.partitions.group_of)

    def _taken(self, work: Work, group_of: npt.NDArray[np.int32]) -> Iterator[Matches]:
        while work.found or not work.done:
            if work.found:
                yield from self._listed(work.found.popleft(), group_of)
            else:
                self._take_step()

    def _take_step(self) -> None:
        work = self._work[0]
        searches = next(work.steps, None)
        if searches is None:
            work.done = True
            self._work.popleft()
        else:
            work.found.append(searches)

    def _take_steps(self) -> None:
        """Take all steps; what they find is searched later."""
        while self._work:
            self._take_step()

    def _listed(self, searches: Sequence[Search], group_of: npt.NDArray[np.int32]) -> Iterator[Matches]:
        for search in searches:
            query = search.form.query
            limit = None if query.limit is None else Limit(query.limit, group_of)
            before = self.listed[query.name]
            for found in search.matches(limit):
                self.listed[query.name] += len(found)
                most = self.setting.most_matches
                if most is not None and self.listed[query.name] > most:
                    exact = before + search.count() if search.is_quick_to_count and limit is None else None
                    raise TooManyError(query, most, exact, int(ticks_of(found)[found.last[-1]]))
                yield found

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
        self._take_steps()
        self.window.keep(kept, int(self.window.slots.max(initial=-1)) + 1)
        self.planned.clear()

    def save(self) -> dict[str, Any]:
        self._take_steps()
        return {"window": self.window.save(), "pending": list(self.pending)}

    def load(self, state: dict[str, Any]) -> None:
        self.window.load(state["window"])
        self.planned.clear()
        self.pending = list(state["pending"])


class TooManyError(Exception):
    """A query has more matches than a run lists; raised before they fill the memory."""

    def __init__(self, query: Query, most: int, exact: int | None, end: int) -> None:
        super().__init__(query.name)
        self.query = query
        self.most = most
        self.exact = exact
        """The number of matches of the events so far, where it was quick to count."""
        self.end = end
        """The time of the last event of a match, in ticks."""

    def told(self, clock: Clock) -> WorkloadError:
        """Return the error to raise for a user; `clock` is that of the user's times."""
        end = clock.show(np.array([self.end]))[0].as_py()
        amount = f"{self.exact:,} matches so far" if self.exact is not None else f"more than {self.most:,} matches"
        message = f"{self.query.name} has {amount}; a run lists at most {self.most:,} (at a match that ends at {end})"
        hint = (
            "bound repetitions with {n,m}, choose skip-till-next-match, add LIMIT n, count trends with "
            "RETURN COUNT(*), set most_matches, or look at elsinore.matches(...), which counts matches and lists some"
        )
        return WorkloadError([Problem(message, hint, self.query.pattern.place, self.query.name)])


def _span(query: Query, clock: Clock) -> int:
    """Return the length of a query's windows on their clock."""
    return int(query.within.amount) if query.counts_events else clock.ticks(query.within.seconds)
