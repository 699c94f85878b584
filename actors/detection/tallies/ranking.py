"""The matches with given numbers among those that end at one time, found by counting.

A match is built from left to right as rows are compared: its start, then the events of each variable. For each choice
the matches with smaller ones are counted, so that no match is listed but those that are asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from elsinore.actors.detection.matches import ABSENT, Bound
from elsinore.actors.detection.tallies.tallied import LAST_ROW, Restriction, Tallied
from elsinore.actors.detection.term_search import Chunk, Ints
from elsinore.planner.detection.normal_form import NormalForm

Rows = dict[str, tuple[int, ...]]
"""By variable, the rows that a match binds."""

Ranks = list[int]
"""Numbers of matches, in ascending order."""


@dataclass(frozen=True)
class Choice:
    """Matches that agree in their start and in the events of some variables."""

    restriction: Restriction
    after: int
    """The first row behind those of the start."""
    column: int
    """The number of variables that are decided."""
    found: Rows


class Ranking:
    """The matches of some terms, in the order of rows; they end at one time."""

    def __init__(self, form: NormalForm, terms: Sequence[Tallied], starts: Ints) -> None:
        """`starts`: the first row of each time at which a match may begin, and a row behind all."""
        self.form = form
        self.terms = terms
        self.starts: list[int] = starts.tolist()
        self.columns = form.columns
        self._candidates = {name: self._rows(name) for name in self.columns}

    def _rows(self, name: str) -> list[int]:
        rows = np.unique(np.concatenate([term.frames.events.rows(name) for term in self.terms]))
        return rows[(rows >= self.starts[0]) & (rows < self.starts[-1])].tolist()

    def chunk(self, ranks: Ranks) -> Chunk:
        """Return the matches with these numbers."""
        found = list(self.at(ranks))
        return Chunk(len(found), {name: self._column(name, found) for name in self.columns})

    def _column(self, name: str, found: Sequence[Rows]) -> Bound:
        rows = [one[name] for one in found]
        if name not in self.form.lists:
            return Bound(np.array([one[0] if one else ABSENT for one in rows], np.int32))
        flat = np.array([row for one in rows for row in one], np.int32)
        return Bound(flat, np.cumsum([0, *map(len, rows)]))

    def at(self, ranks: Ranks) -> Iterator[Rows]:
        """Yield the matches with these numbers."""
        waiting = list(self._begun(ranks))[::-1]
        while waiting:
            choice, some = waiting.pop()
            if choice.column == len(self.columns):
                yield choice.found
                continue
            name = self.columns[choice.column]
            waiting += reversed(list((self._list if name in self.form.lists else self._single)(name, choice, some)))

    def _begun(self, ranks: Ranks) -> Iterator[tuple[Choice, Ranks]]:
        """Yield the starts of matches, with the numbers of those that begin there."""
        total = self._begin_at_or_after(self.starts[0])

        def before(number: int) -> int:
            return total - self._begin_at_or_after(self.starts[number])

        for number, some in _parted(ranks, before, len(self.starts) - 1):
            yield Choice(Restriction(begin=self.starts[number]), self.starts[number + 1], 0, {}), some

    def _begin_at_or_after(self, row: int) -> int:
        return self._count(Restriction(begin=row))

    def _single(self, name: str, choice: Choice, ranks: Ranks) -> Iterator[tuple[Choice, Ranks]]:
        """Yield the events that a variable may bind; that it binds none comes first."""
        rows = [ABSENT, *self._candidates[name]]

        def bound(highest: int) -> Restriction:
            return replace(choice.restriction, highest={**choice.restriction.highest, name: highest})

        def before(number: int) -> int:
            return self._of(choice, bound(rows[number - 1])) if number else 0

        for number, some in _parted(ranks, before, len(rows)):
            row = rows[number]
            own = bound(row)
            own = replace(own, lowest={**own.lowest, name: row - 1})
            events = () if row == ABSENT else (row,)
            yield replace(choice, restriction=own, column=choice.column + 1, found={**choice.found, name: events}), some

    def _list(self, name: str, choice: Choice, ranks: Ranks) -> Iterator[tuple[Choice, Ranks]]:
        """Yield the next events that a list may bind; that it ends comes first."""
        known = choice.found.get(name, ())
        candidates = self._candidates[name]
        rows = candidates[bisect_right(candidates, known[-1]) :] if known else candidates

        def without(highest: int) -> Restriction:
            """Return the restriction to lists that bind nothing behind their known events up to a row."""
            return replace(choice.restriction, lowest={**choice.restriction.lowest, name: highest})

        @cache
        def left(number: int) -> int:
            return self._of(choice, without(rows[number - 1] if number else known[-1] if known else ABSENT))

        def before(number: int) -> int:
            return self._of(choice, without(LAST_ROW)) + left(0) - left(number - 1) if number else 0

        for number, some in _parted(ranks, before, len(rows) + 1):
            if number == 0:
                done = {**choice.found, name: known}
                yield replace(choice, restriction=without(LAST_ROW), column=choice.column + 1, found=done), some
                continue
            longer = (*known, rows[number - 1])
            own = without(longer[-1])
            own = replace(own, forced={**own.forced, name: longer})
            yield replace(choice, restriction=own, found={**choice.found, name: longer}), some

    def _of(self, choice: Choice, restriction: Restriction) -> int:
        """Return the number of matches of a restriction that begin as a choice does."""
        return self._count(restriction) - self._count(replace(restriction, begin=choice.after))

    def _count(self, restriction: Restriction) -> int:
        return sum(term.count(restriction) for term in self.terms)


def _parted(ranks: Ranks, before: Callable[[int], int], choices: int) -> Iterator[tuple[int, Ranks]]:
    """Yield the choices that have the matches with some numbers, with these counted from the first of the choice.

    `before`: the number of matches of all choices before one. The numbers lie below that of all choices.
    """
    known = cache(before)
    place = choice = 0
    while place < len(ranks):
        # The choices that are wanted are mostly among the first ones.
        lo, step = choice, 1
        while lo + step < choices and known(lo + step) <= ranks[place]:
            lo, step = lo + step, 2 * step
        choice = lo + bisect_right(range(lo + 1, min(lo + step, choices)), ranks[place], key=known)
        end = len(ranks)
        if choice + 1 < choices:
            end = bisect_right(ranks, known(choice + 1) - 1)
        yield choice, [rank - known(choice) for rank in ranks[place:end]]
        place = end
