"""Terms that joins find: single events, or matches that are stored, with comparisons between them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from elsinore.actors.detection.joins import join_numba_fns as kernel
from elsinore.actors.detection.joins.join_numba_fns import Found
from elsinore.actors.detection.joins.join_numba_fns import Sources as Numbers
from elsinore.actors.detection.joins.program import JoinProgram
from elsinore.actors.detection.joins.sources import Arena, MatchSource, Source, bases
from elsinore.actors.detection.term_search import ALL, NONE, ROOM, Chunk, Cursor, Ints
from elsinore.planner.detection.normal_form import Clause, NormalForm


class JoinSearch:
    """A join, for the matches whose last events are some rows; implements `TermSearch`."""

    ascending = True

    def __init__(
        self, program: JoinProgram, form: NormalForm, sources: Sequence[Source], arena: Arena, lo: int, hi: int
    ) -> None:
        self.program = program
        self.skips = program.in_order
        self.clause: Clause = program.clause
        self.names = [self.clause.elements[element].variables[0] for element in program.shown]
        self.triggers, self.rows = sources[0].triggers(lo, hi, program.join.span)
        self._arena = arena
        self._base = bases(program, sources, form) if len(self.rows) else NONE
        self._counts = np.array([source.count for source in sources], np.int64)
        self.most = ALL

    def run(self, cursor: Ints, found: Found, asked: int) -> int:
        """Join as far as there is room; return what the kernel does."""
        if not len(self.triggers) or not self._counts.all():
            return 0
        numbers = Numbers(self._arena.numbers, self._base, self._counts, self.triggers)
        return kernel.join(self.program.join, numbers, cursor, found, asked)

    def cursor(self) -> Ints:
        cursor = np.zeros((len(self._counts), kernel.CURSOR_WIDTH), np.int64)
        cursor[0, kernel.UNTIL] = len(self.triggers)
        return cursor

    def begin(self) -> Cursor:
        return _JoinCursor(self)

    def counts(self) -> Ints:
        found = _found(0, 0, len(self.triggers))
        self.run(self.cursor(), found, kernel.COUNT)
        return found.by_trigger

    def first(self, most: int) -> JoinSearch:
        """Return the search for the first matches of each trigger, if matches are found in the order of rows."""
        if not self.program.in_order:
            return self
        other = copy(self)
        other.most = most
        return other

    def between(self, lo: int, hi: int) -> JoinSearch:
        first, end = np.searchsorted(self.rows, [lo, hi])
        other = copy(self)
        other.triggers, other.rows = self.triggers[first:end], self.rows[first:end]
        return other


class _JoinCursor:
    """A join, as far as it has come."""

    def __init__(self, search: JoinSearch) -> None:
        self.search = search
        self.cursor = search.cursor()
        self.asked = kernel.LIST

    def skip(self) -> None:
        self.cursor[1:, kernel.CANDIDATE] = self.cursor[1:, kernel.COUNTED]

    @property
    def trigger(self) -> int:
        return int(self.cursor[0, kernel.CANDIDATE]) - 1

    def advance(self) -> tuple[Chunk, bool]:
        width = self.search.program.join.width
        found = _found(ROOM, width, 0, self.search.most)
        done = self.search.run(self.cursor, found, self.asked)
        self.asked = kernel.RESUME
        count, used = found.used.tolist()
        return Chunk.of_table(self.search.names, found.rows[:used].reshape(count, width)), done != kernel.FULL


def _found(room: int, width: int, triggers: int, most: int = ALL) -> Found:
    """Return room for so many events of matches, and for counts by trigger."""
    return Found(
        np.empty(room, np.int32), np.zeros(2, np.int64), np.zeros(triggers, np.int64), np.empty(width, np.int32), most
    )


class StoredSearch:
    """Stored matches whose last events are some rows; implements `TermSearch`."""

    ascending = True
    skips = False

    def __init__(
        self,
        clause: Clause,
        shown: Sequence[str],
        source: MatchSource,
        slots: Sequence[int],
        span: int,
        lo: int,
        hi: int,
    ) -> None:
        """Read the variables that are shown from these slots of the source."""
        self.clause = clause
        self.names = list(shown)
        self.source = source
        self.slots = slots
        self.triggers, self.rows = source.triggers(lo, hi, span)

    def begin(self) -> Cursor:
        return _StoredCursor(self)

    def counts(self) -> Ints:
        return np.ones(len(self.rows), np.int64)

    def first(self, most: int) -> StoredSearch:
        """Return all stored matches: they are there already."""
        return self

    def between(self, lo: int, hi: int) -> StoredSearch:
        first, end = np.searchsorted(self.rows, [lo, hi])
        other = copy(self)
        other.triggers, other.rows = self.triggers[first:end], self.rows[first:end]
        return other


class _StoredCursor:
    def __init__(self, search: StoredSearch) -> None:
        self.search = search
        self.trigger = 0

    def skip(self) -> None:
        """Go on: stored matches are there already."""

    def advance(self) -> tuple[Chunk, bool]:
        search, first = self.search, self.trigger
        self.trigger = min(first + ROOM, len(search.triggers))
        table = search.source.rows[search.triggers[first : self.trigger]][:, search.slots]
        return Chunk.of_table(search.names, table), self.trigger == len(search.triggers)
