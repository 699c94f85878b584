"""A search in progress: the matches of one query that end with some events of a window, or begin with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property

import numpy as np

from elsinore.actors.detection.filters import satisfying
from elsinore.actors.detection.matches import ABSENT, Bound, Matches, joined
from elsinore.actors.detection.term_search import NONE, ROOM, Chunk, Ints, TermSearch
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm

Limit = Callable[[Matches], Matches]
"""What leaves the first matches of each group and end, of matches in the order of rows."""


class Search:
    """A search in progress."""

    def __init__(
        self, form: NormalForm, window: Window, terms: Sequence[TermSearch], filters: frozenset[Condition]
    ) -> None:
        """`filters`: the conditions that the terms do not decide."""
        self.form = form
        self.window = window
        self.terms = terms
        self.filters = filters

    def matches(self, limit: Limit | None = None) -> Iterator[Matches]:
        """Yield all matches in the order of rows, some at a time.

        The terms are searched side by side, each until its output is full: matches that end before every term's next
        trigger are complete.
        """
        terms = [_Progress(self, term) for term in self.terms]
        found: list[Matches] = []
        while terms:
            least = min(terms, key=lambda one: one.reached)
            found += least.advance()
            terms = [one for one in terms if one.reached < END]
            if not terms or sum(map(len, found)) >= ROOM // 4:
                ready, found = _parted(found, min((one.reached for one in terms), default=END))
                if ready is not None:
                    yield limit(ready) if limit else ready
                if limit and found:
                    found = [limit(joined(found).ordered())]

    def count(self) -> int:
        """Return the number of matches; LIMIT is not looked at."""
        return int(self.counts.sum())

    @cached_property
    def counts(self) -> Ints:
        """Return the number of matches by row of their last (or first) event."""
        counts = np.zeros(len(self.window), np.int64)
        if self._listed is not None:
            return counts + np.bincount(self._listed.last, minlength=len(counts))
        for term in self.terms:
            np.add.at(counts, term.rows, term.counts())
        return counts

    @cached_property
    def _listed(self) -> Matches | None:
        """Return all matches in order where they cannot be counted by their last events; else None."""
        if all(term.ascending for term in self.terms) and not self.filters:
            return None
        found = list(self.matches())
        return joined(found) if found else self._none()

    def at(self, ranks: Ints) -> Matches:
        """Return the matches with these numbers, which ascend, in the order of rows; others are not listed.

        Only the times are searched at which one of them ends.
        """
        if self._listed is not None:
            return self._listed.take(ranks)
        times, begins = np.unique(self.window.times, return_index=True)
        ends = np.cumsum(np.add.reduceat(self.counts, begins)) if len(times) else NONE
        wanted, inverse = np.unique(np.searchsorted(ends, ranks, side="right"), return_inverse=True)
        found = []
        for number, time in enumerate(wanted.tolist()):
            lo = int(begins[time])
            hi = int(begins[time + 1]) if time + 1 < len(begins) else len(self.window)
            own = inverse == number
            first = int(ends[time - 1]) if time else 0
            found.append(joined(list(self.between(lo, hi).matches())).take(ranks[own] - first))
        return joined(found) if found else self._none()

    def page(self, first: int, count: int) -> Matches:
        """Return the matches from number `first` on, at most so many, in the order of rows."""
        return self.at(np.arange(first, max(first, min(first + count, self.count()))))

    def sample(self, count: int, seed: int) -> Matches:
        """Return so many matches (all, if there are not more), each set of them as likely as any other."""
        total = self.count()
        chosen = np.random.default_rng(seed).choice(total, min(count, total), replace=False)
        return self.at(np.sort(chosen))

    def between(self, lo: int, hi: int) -> Search:
        """Return the search for those of the matches whose last event is one of the rows from `lo` to `hi`."""
        other = copy(self)
        other.terms = [term.between(lo, hi) for term in self.terms]
        return other

    def _none(self) -> Matches:
        return self.read(self.terms[0], Chunk(0, {}))

    def read(self, term: TermSearch, chunk: Chunk) -> Matches:
        """Return what a term has found as matches of the query."""
        window, form = self.window, self.form
        assert window.events is not None
        absent = Bound(np.full(chunk.count, ABSENT, np.int32))
        empty = Bound(np.zeros(0, np.int32), np.zeros(chunk.count + 1, np.int64))
        columns = {name: chunk.bound.get(name, empty if name in form.lists else absent) for name in form.columns}
        extremes = self._extremes(term.clause) if chunk.table is not None else None
        return Matches(
            form.query.name,
            columns,
            window.events,
            window.times,
            window.slots,
            extremes,
            term.ascending,
            chunk.table if extremes else None,
        )

    def _extremes(self, clause: Clause) -> tuple[str, str] | None:
        """Return the variables with the first and the last event, where the elements are in one order."""
        size = len(clause.elements)
        if len(clause.order) != size * (size - 1) // 2 or len(self.form.clauses) > 1:
            return None
        names = clause.variables
        return names[0], names[-1]

    def kept(self, matches: Matches, clause: Clause) -> Matches:
        """Return the matches that satisfy the conditions that are not decided by the terms."""
        for condition in clause.conditions:
            if condition in self.filters and len(matches):
                matches = matches.take(np.flatnonzero(satisfying(matches, condition)))
        return matches


class _Progress:
    """The search of one term, as far as it has come."""

    def __init__(self, search: Search, term: TermSearch) -> None:
        self.search = search
        self.term = term
        self.cursor = term.begin()
        self.reached = START
        """No match that is still to be found ends before this time."""

    def advance(self) -> list[Matches]:
        """Go on until the output is full or the end is reached; return what was found."""
        chunk, done = self.cursor.advance()
        self.reached = END if done else self._next()
        if not chunk.count:
            return []
        found = self.search.kept(self.search.read(self.term, chunk), self.term.clause)
        return [found] if len(found) else []

    def _next(self) -> int:
        """Return the time of the trigger at which the search was interrupted."""
        return int(self.search.window.times[self.term.rows[self.cursor.trigger]])


def _parted(found: list[Matches], reached: int) -> tuple[Matches | None, list[Matches]]:
    """Return the matches that end before a time, in the order of rows, and the others."""
    ready, waiting = [], []
    for one in found:
        before, after = one.parted(reached)
        ready += [before] if len(before) else []
        waiting += [after] if len(after) else []
    return joined(ready).ordered() if ready else None, waiting
