"""A search in progress: the matches of one query that end with some events of a window, or begin with them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.filters import satisfying
from elsinore.actors.detection.joins.join_search import JoinSearch, StoredSearch
from elsinore.actors.detection.matches import ABSENT, Bound, Matches, joined
from elsinore.actors.detection.tallies.ranking import Ranking
from elsinore.actors.detection.tallies.tallied import Tallied
from elsinore.actors.detection.term_search import ALL, ROOM, Chunk, Ints, TermSearch
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm

MOST_DRAWN = 2**63 - 1
"""The most matches of which NumPy draws a sample."""

LISTED = 1 << 16
"""Matches that end at one time up to which those with given numbers are taken from a list of all."""

Tallies = Callable[[], Mapping[Clause, Sequence[Tallied]]]
"""What returns, by clause whose matches are counted by dynamic programming, its terms."""


@dataclass(frozen=True)
class Limit:
    """The number of matches that are asked for of each group and end: the first in the order of rows."""

    most: int
    group_of: npt.NDArray[np.int32]
    """By partition, its group."""

    def of(self, matches: Matches) -> Matches:
        """Return the first matches of each group and end, of matches in the order of rows."""
        return matches.limited(self.most, self.group_of[matches.slot])


class Search:
    """A search in progress."""

    def __init__(
        self,
        form: NormalForm,
        window: Window,
        terms: Sequence[TermSearch],
        filters: frozenset[Condition],
        tallies: Tallies = dict,
    ) -> None:
        """`filters`: the conditions that the terms do not decide."""
        self.form = form
        self.window = window
        self.terms = terms
        self.filters = filters
        self.tallies = tallies

    def matches(self, limit: Limit | None = None) -> Iterator[Matches]:
        """Yield all matches in the order of rows, some at a time.

        With a limit, the search of an event that ends matches stops where no more of them are asked for. Where lists
        make many matches, the first are found by counting.
        """
        if limit is None or not self._has_many():
            return self._side_by_side(limit)
        return self._first(limit)

    def _has_many(self) -> bool:
        """Return whether matches may be many more than events, and are found by their numbers."""
        has_lists = any(not one.single for clause in self.form.clauses for one in clause.elements)
        return has_lists and self._is_ranked and all(term.ascending for term in self.terms)

    def _first(self, limit: Limit) -> Iterator[Matches]:
        begins, ends = self._ends
        done = 0
        for time in np.flatnonzero(np.diff(ends) > LISTED).tolist():
            lo, hi = int(begins[time]), int(begins[time + 1])
            if done < lo:
                yield from self.between(done, lo)._side_by_side(limit)
            yield self._first_ending(lo, hi, limit)
            done = hi
        if done < len(self.window):
            yield from self.between(done, len(self.window))._side_by_side(limit)

    def _first_ending(self, lo: int, hi: int, limit: Limit) -> Matches:
        """Return the first matches of each group that end with the rows from `lo` to `hi`, which are of one time."""
        groups = limit.group_of[self.window.slots[lo:hi]]
        found = []
        for group in np.unique(groups).tolist():
            terms = [
                one.among(np.flatnonzero(groups[one.rows - lo] == group)) for one in self._all_tallied_between(lo, hi)
            ]
            count = sum(int(term.counts().sum()) for term in terms)
            found.append(self._ranked(terms, hi, list(range(min(count, limit.most)))))
        return joined(found).ordered()

    def _side_by_side(self, limit: Limit | None) -> Iterator[Matches]:
        """Yield all matches, or the first ones, in the order of rows, some at a time.

        The terms are searched side by side, each until its output is full: matches that end before every term's next
        trigger are complete.
        """
        terms = [_Progress(self, term, limit.most if limit else ALL) for term in self.terms]
        found: list[Matches] = []
        while terms:
            least = min(terms, key=lambda one: one.reached)
            found += least.advance()
            terms = [one for one in terms if one.reached < END]
            if not terms or sum(map(len, found)) >= ROOM // 4:
                ready, found = _parted(found, min((one.reached for one in terms), default=END))
                if ready is not None:
                    yield limit.of(ready) if limit else ready
                if limit and found:
                    found = [limit.of(joined(found).ordered())]

    @property
    def is_quick_to_count(self) -> bool:
        """Return whether no list of matches is needed to count them."""
        return not self.filters and all(
            isinstance(term, JoinSearch | StoredSearch) or term.clause in self._tallied for term in self.terms
        )

    def count(self) -> int:
        """Return the number of matches; LIMIT is not looked at."""
        return int(self.counts.sum())

    @cached_property
    def _tallied(self) -> Mapping[Clause, Sequence[Tallied]]:
        return {} if self.filters else self.tallies()

    @cached_property
    def counts(self) -> npt.NDArray[Any]:
        """Return the number of matches by row of their last (or first) event; as objects where 64 bits may be few."""
        if self._listed is not None:
            return np.bincount(self._listed.last, minlength=len(self.window))
        quick = [term for term in self.terms if isinstance(term, JoinSearch | StoredSearch)]
        framed = [term for term in self.terms if term not in quick and term.clause not in self._tallied]
        clauses = {term.clause for term in self.terms} - {term.clause for term in quick}
        tallied = [term for clause in clauses for term in self._tallied.get(clause, ())]
        counted: list[TermSearch | Tallied] = [*quick, *framed, *tallied]
        found = [(term.rows, term.counts()) for term in counted]
        counts = np.zeros(len(self.window), np.result_type(np.int64, *(some.dtype for _, some in found)))
        for rows, some in found:
            np.add.at(counts, rows, some)
        return counts

    @cached_property
    def _listed(self) -> Matches | None:
        """Return all matches in order where they cannot be counted by their last events; else None."""
        if all(term.ascending for term in self.terms) and not self.filters:
            return None
        found = list(self.matches())
        return joined(found) if found else self._none()

    @cached_property
    def _ends(self) -> tuple[Ints, npt.NDArray[Any]]:
        """Return the first row of each time, and a row behind all; and the number of matches up to each time."""
        if not len(self.window):
            return np.zeros(1, np.int64), np.zeros(1, np.int64)
        _, begins = np.unique(self.window.times, return_index=True)
        ends = np.cumsum(np.add.reduceat(self.counts, begins))
        return np.append(begins, len(self.window)), np.concatenate([[0], ends])

    def at(self, ranks: Sequence[int]) -> Matches:
        """Return the matches with these numbers, which ascend, in the order of rows; others are not listed.

        Only the times are searched at which one of them ends, and of many matches with one end none but the wanted.
        """
        if self._listed is not None:
            return self._listed.take(np.array(ranks, np.int64))
        begins, ends = self._ends
        found, place = [], 0
        while place < len(ranks):
            time = int(np.searchsorted(ends, ranks[place], side="right")) - 1
            until = bisect_left(ranks, ends[time + 1])
            own = [int(rank - ends[time]) for rank in ranks[place:until]]
            found.append(self._ending(int(begins[time]), int(begins[time + 1]), int(ends[time + 1] - ends[time]), own))
            place = until
        return joined(found) if found else self._none()

    def _ending(self, lo: int, hi: int, count: int, ranks: list[int]) -> Matches:
        """Return some of the matches that end with the rows from `lo` to `hi`, which are of one time."""
        if count > LISTED and self._is_ranked:
            return self._ranked(self._all_tallied_between(lo, hi), hi, ranks)
        return joined(list(self.between(lo, hi).matches())).take(np.array(ranks, np.int64))

    @property
    def _is_ranked(self) -> bool:
        """Return whether matches are found by their numbers without a list."""
        return all(clause in self._tallied for clause in self.form.clauses)

    def _all_tallied_between(self, lo: int, hi: int) -> list[Tallied]:
        return [term.between(lo, hi) for clause in self.form.clauses for term in self._tallied[clause]]

    def _ranked(self, terms: Sequence[Tallied], hi: int, ranks: list[int]) -> Matches:
        begins, _ = self._ends
        first = terms[0].frames.earliest(hi - 1)
        ranking = Ranking(self.form, terms, np.append(begins[(begins >= first) & (begins < hi)], hi))
        return self.read(self.terms[0], ranking.chunk(ranks))

    def page(self, first: int, count: int) -> Matches:
        """Return the matches from number `first` on, at most so many, in the order of rows."""
        return self.at(range(first, max(first, min(first + count, self.count()))))

    def sample(self, count: int, seed: int) -> Matches:
        """Return so many matches (all, if there are not more), each set of them as likely as any other."""
        total = self.count()
        if total > MOST_DRAWN:
            return self.at(_drawn(total, count, Random(seed)))
        return self.at(np.sort(np.random.default_rng(seed).choice(total, min(count, total), replace=False)).tolist())

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


def united(parts: Sequence[Search]) -> Search:
    """Return the search for the matches of several searches of one query over one window."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    terms = [term for one in parts for term in one.terms]
    filters = frozenset[Condition]().union(*(one.filters for one in parts))

    def tallies() -> Mapping[Clause, Sequence[Tallied]]:
        found = [one.tallies() for one in parts]
        return {clause: [term for some in found for term in some.get(clause, ())] for clause in found[0]}

    return Search(first.form, first.window, terms, filters, tallies)


def _drawn(total: int, count: int, draw: Random) -> list[int]:
    """Return so many different numbers below `total`, in order (Floyd's algorithm)."""
    chosen: set[int] = set()
    for most in range(total - count, total):
        one = draw.randrange(most + 1)
        chosen.add(most if one in chosen else one)
    return sorted(chosen)


class _Progress:
    """The search of one term, as far as it has come."""

    def __init__(self, search: Search, term: TermSearch, most: int) -> None:
        """`most`: the number of matches of each trigger, in the order of rows, behind which others may be left out."""
        self.search = search
        self.term = term if search.filters else term.first(most)
        self.most = most if search.filters and term.skips else ALL
        self.cursor = self.term.begin()
        self.reached = START
        """No match that is still to be found ends before this time."""
        self._kept = (-1, 0)
        """The trigger at which the search was interrupted, and how many of its matches satisfy the conditions."""

    def advance(self) -> list[Matches]:
        """Go on until the output is full or the end is reached; return what was found."""
        chunk, done = self.cursor.advance()
        self.reached = END if done else self._next()
        if not chunk.count:
            return []
        found = self.search.kept(self.search.read(self.term, chunk), self.term.clause)
        if self.most < ALL and not done:
            self._skip_if_enough(found)
        return [found] if len(found) else []

    def _skip_if_enough(self, found: Matches) -> None:
        """Go on to the next trigger where enough matches of this one satisfy the conditions."""
        trigger = self.cursor.trigger
        before = self._kept[1] if self._kept[0] == trigger else 0
        self._kept = trigger, before + int(np.count_nonzero(found.last == self.term.rows[trigger]))
        if self._kept[1] >= self.most:
            self.cursor.skip()

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
