"""A search in progress: the matches of one query that end with some events of a window, or begin with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection import search_numba_fns as kernel
from elsinore.actors.detection.entries import Bindable
from elsinore.actors.detection.filters import satisfying
from elsinore.actors.detection.formulas import Sides
from elsinore.actors.detection.matches import ABSENT, Bound, Matches, joined, spread
from elsinore.actors.detection.search_numba_fns import Entries, Output, Program, Stack
from elsinore.actors.detection.terms import Term
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm

Ints = npt.NDArray[np.int64]

Limit = Callable[[Matches], Matches]
"""What leaves the first matches of each group and end, of matches in the order of rows."""

NONE: Ints = np.zeros(0, np.int64)

ROOM = 1 << 18
"""Number of events of matches that a search writes before it is interrupted."""


@dataclass(frozen=True)
class Compiled:
    """A program, and what belongs to its terms."""

    form: NormalForm
    span: int
    """The length of windows on the clock of the query."""
    by_first: bool
    """Whether matches are searched from their first events."""
    program: Program
    terms: tuple[tuple[int, Term], ...]
    """The number of each term that is searched."""
    names: tuple[str, ...]
    """By number of a variable, its name."""
    filters: frozenset[Condition]
    """The conditions that the program does not decide."""


class Search:
    """A search in progress."""

    def __init__(
        self,
        compiled: Compiled,
        window: Window,
        events: Bindable,
        sides: Sides,
        lo: int,
        hi: int,
    ) -> None:
        self.form = compiled.form
        self.by_first = compiled.by_first
        self.span = compiled.span
        self.window = window
        self.events = events
        self.compiled = compiled
        self.entries = self._entries(sides, lo, hi)

    def _entries(self, sides: Sides, lo: int, hi: int) -> Entries:
        events, clocked = self.events, self.events.clocked
        rows = np.concatenate([NONE, *events.rows_of])
        starts = events.starts()
        before = after = np.zeros(0, np.int64)
        if self.form.query.semantics == "contiguous":
            before, after = (one[rows] for one in clocked.neighbours(self.window.slots))
        fresh = (rows >= lo) & (rows < hi)
        by_term: list[tuple[Ints, Ints]] = [(NONE, NONE)] * len(self.compiled.program.terms)
        for number, _ in self.compiled.terms:
            by_term[number] = self._triggers(number, starts, lo, hi)
        triggers, labels = zip(*by_term, strict=True)
        keys = [keys for _, keys in sides.keys]
        values = [values for _, values in sides.values]
        known = [one.valid for one in values]
        return Entries(
            clocked.at[rows],
            rows.astype(np.int32),
            starts,
            before,
            after,
            fresh,
            np.concatenate(triggers),
            np.concatenate(labels),
            _bounds(triggers),
            np.concatenate([NONE, *keys]),
            self._bases([name for name, _ in sides.keys], keys, starts),
            np.concatenate([NONE, *(_cast(one.data, np.int64) for one in values)]),
            np.concatenate([np.zeros(0, np.float64), *(_cast(one.data, np.float64) for one in values)]),
            np.concatenate([np.zeros(0, np.bool_), *known]),
            self._bases([name for name, _ in sides.values], known, starts),
        )

    def _bases(self, names: list[str], columns: Sequence[npt.NDArray[Any]], starts: Ints) -> Ints:
        """Return what to add to an entry to find its value in columns that lie one behind another."""
        leaf_of = self.events.leaf_of
        begins = np.cumsum([0, *map(len, columns)])[:-1]
        return np.array([b - starts[leaf_of[name]] for b, name in zip(begins, names, strict=True)], np.int64)

    def _triggers(self, number: int, starts: Ints, lo: int, hi: int) -> tuple[Ints, Ints]:
        """Return the entries that the first level of a term may bind first, in the order of time, and their labels."""
        program = self.compiled.program
        level = int(program.terms[number, kernel.FIRST])
        first = lo
        if program.levels[level, kernel.FORWARDS] and not self.by_first:
            first = self._earliest(lo)
        entries, labels, rows = [], [], []
        for label, variable in enumerate(program.data[slice(*program.at[kernel.LABELS, level : level + 2])]):
            leaf = int(program.variables[variable, kernel.LEAF])
            own = self.events.rows_of[leaf]
            found = np.flatnonzero((own >= first) & (own < hi))
            entries.append(starts[leaf] + found)
            labels.append(np.full(len(found), label))
            rows.append(own[found])
        row = np.concatenate(rows)
        order = np.argsort(row, kind="stable")
        return np.concatenate(entries)[order], np.concatenate(labels)[order]

    def _earliest(self, row: int) -> int:
        """Return the first row that can be in one window with a row or a later one."""
        ticks = self.window.ticks(self.form.query.counts_events)
        if row >= len(ticks):
            return row
        return int(np.searchsorted(ticks, ticks[row] - self.span + 1))

    def stack(self) -> Stack:
        """Return an empty stack."""
        program = self.compiled.program
        longest = 0
        if not program.levels[:, kernel.IS_SINGLE].all():
            at = self.events.clocked.at[self.events.clocked.order]
            lengths = np.arange(len(at)) - np.searchsorted(at, at - self.span)
            longest = int(lengths.max(initial=0)) + 1
        values = len(program.data) + 1  # no test has more operations, or more variables
        depth = 2 * (longest + len(program.levels)) + 2
        return Stack(
            np.zeros((depth, kernel.FRAME_WIDTH), np.int64),
            np.zeros((len(program.levels), 3), np.int64),
            np.zeros(len(program.variables), np.int64),
            np.zeros(values, np.int64),
            np.zeros(values, np.int64),
            np.zeros(values, np.float64),
            np.zeros(values, np.bool_),
            np.zeros(1, np.int64),
            np.zeros((len(program.levels), kernel.PLAIN_WIDTH), np.int64),
        )

    def matches(self, limit: Limit | None = None) -> Iterator[Matches]:
        """Yield all matches in the order of rows, some at a time.

        The terms are searched side by side, each until its output is full: matches that end before every term's next
        trigger are complete.
        """
        terms = [_Progress(self, number, term) for number, term in self.compiled.terms]
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

    def run(self, number: int, stack: Stack, output: Output, asked: int) -> int:
        """Search a term as far as there is room; return what the kernel does."""
        program = self.compiled.program
        search = kernel.search_plain if program.terms[number, kernel.PLAIN] else kernel.search
        return search(program, self.entries, stack, output, number, asked)

    def count(self) -> int:
        """Return the number of matches; LIMIT is not looked at."""
        return int(self.counts.sum())

    @cached_property
    def counts(self) -> Ints:
        """Return the number of matches by row of their last (or first) event."""
        counts = np.zeros(len(self.window), np.int64)
        if self._listed is not None:
            return counts + np.bincount(self._listed.last, minlength=len(counts))
        entries = self.entries
        for number, _ in self.compiled.terms:
            output = _output(0, 0, len(entries.triggers))
            self.run(number, self.stack(), output, kernel.COUNT)
            own = slice(*entries.triggers_at[number])
            np.add.at(counts, entries.row[entries.triggers[own]], output.found[own])
        return counts

    @cached_property
    def _listed(self) -> Matches | None:
        """Return all matches in order where they cannot be counted by their last events; else None."""
        if self._ascending and not self.compiled.filters:
            return None
        found = list(self.matches())
        return joined(found) if found else self._none()

    @property
    def _ascending(self) -> bool:
        """Return whether every term finds matches in the order of their last events."""
        return not any(_runs_ahead(self, number) for number, _ in self.compiled.terms)

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
        entries = self.entries
        bounds = entries.triggers_at.copy()
        for number, _ in self.compiled.terms:
            rows = entries.row[entries.triggers[slice(*bounds[number])]]
            bounds[number] = bounds[number, 0] + np.searchsorted(rows, [lo, hi])
        other = copy(self)
        other.entries = entries._replace(triggers_at=bounds)
        return other

    def _none(self) -> Matches:
        number, term = self.compiled.terms[0]
        return _Progress(self, number, term).none()

    def kept(self, matches: Matches, clause: Clause) -> Matches:
        """Return the matches that satisfy the conditions that are not decided by the search."""
        for condition in clause.conditions:
            if condition in self.compiled.filters and len(matches):
                matches = matches.take(np.flatnonzero(satisfying(matches, condition)))
        return matches


class _Progress:
    """The search of one term, as far as it has come."""

    def __init__(self, search: Search, number: int, term: Term) -> None:
        self.search = search
        self.number = number
        self.stack = search.stack()
        self.asked = kernel.LIST
        self.clause = term.clause
        program = search.compiled.program
        columns = program.data[slice(*program.at[kernel.COLUMNS, number : number + 2])]
        self.names = [search.compiled.names[variable] for variable in columns]
        self.single = all(element.single for element in term.clause.elements)
        self.ascending = not _runs_ahead(search, number)
        """Whether matches are found in the order of their last events."""
        self.reached = START
        """No match that is still to be found ends before this time."""

    def advance(self) -> list[Matches]:
        """Go on until the output is full or the end is reached; return what was found."""
        search = self.search
        output = _output(len(self.names), 0 if self.single else len(self.names))
        done = search.run(self.number, self.stack, output, self.asked)
        self.asked = kernel.RESUME
        self.reached = self._next() if done == kernel.FULL else END
        if done == kernel.FULL and not output.used[0]:
            raise MemoryError("a match has more events than a search can write")
        found = search.kept(self._read(output), self.clause) if output.used[0] else None
        return [found] if found is not None and len(found) else []

    def _next(self) -> int:
        """Return the time of the trigger at which the search was interrupted."""
        entries = self.search.entries
        entry = entries.triggers[self.stack.frames[0, kernel.CURSOR] - 1]
        return int(self.search.window.times[entries.row[entry]])

    def none(self) -> Matches:
        """Return no matches."""
        return self._read(_output(len(self.names), 0 if self.single else len(self.names)))

    def _read(self, output: Output) -> Matches:
        count, used = output.used.tolist()
        window, form = self.search.window, self.search.form
        assert window.events is not None
        table = output.rows[:used].reshape(count, len(self.names)) if self.single else None
        bound = self._lists(output, count, used) if table is None else self._columns(table)
        absent = Bound(np.full(count, ABSENT, np.int32))
        empty = Bound(np.zeros(0, np.int32), np.zeros(count + 1, np.int64))
        columns = {name: bound.get(name, empty if name in form.lists else absent) for name in form.columns}
        extremes = self._extremes()
        return Matches(
            form.query.name,
            columns,
            window.events,
            window.times,
            window.slots,
            extremes,
            self.ascending,
            table if extremes else None,
        )

    def _columns(self, table: npt.NDArray[np.int32]) -> dict[str, Bound]:
        """Return the columns of matches that bind one event to each variable."""
        return {name: Bound(table[:, column]) for column, name in enumerate(self.names)}

    def _extremes(self) -> tuple[str, str] | None:
        """Return the variables with the first and the last event, where the elements are in one order."""
        clause = self.clause
        if not self.single or len(clause.order) != len(clause.elements) * (len(clause.elements) - 1) // 2:
            return None
        names = clause.variables
        return (names[0], names[-1]) if len(self.search.form.clauses) == 1 else None

    def _lists(self, output: Output, count: int, used: int) -> dict[str, Bound]:
        rows, counts = output.rows[:used], output.counts[:count].astype(np.int64)
        begins = np.cumsum(counts).reshape(counts.shape) - counts
        found = {}
        for column, name in enumerate(self.names):
            begin, size = begins[:, column], counts[:, column]
            if name in self.search.form.lists:
                found[name] = Bound(rows[spread(begin, size)], np.concatenate([[0], np.cumsum(size)]))
            else:
                one = np.append(rows, np.int32(ABSENT))[np.minimum(begin, used)]
                found[name] = Bound(np.where(size > 0, one, np.int32(ABSENT)))
        return found


def _runs_ahead(search: Search, number: int) -> bool:
    """Return whether a term binds the last event of a match after others, and so in no order."""
    program = search.compiled.program
    return search.by_first or bool(program.levels[program.terms[number, kernel.FIRST], kernel.FORWARDS])


def _output(width: int, counted: int, triggers: int = 0) -> Output:
    """Return room for matches of so many variables (0: none), with their numbers of events by variable or not."""
    most = ROOM // width if width else 0
    counts = np.empty((most if counted else 0, counted), np.int32)
    rows = np.empty(ROOM if width else 0, np.int32)
    return Output(rows, counts, np.zeros(2, np.int64), most, np.zeros(triggers, np.int64))


def _bounds(parts: Sequence[Ints]) -> Ints:
    """Return where parts that lie one behind another begin, and where they end."""
    ends = np.cumsum([len(part) for part in parts])
    return np.stack([ends - [len(part) for part in parts], ends], axis=1).astype(np.int64)


def _parted(found: list[Matches], reached: int) -> tuple[Matches | None, list[Matches]]:
    """Return the matches that end before a time, in the order of rows, and the others."""
    ready, waiting = [], []
    for one in found:
        before, after = one.parted(reached)
        ready += [before] if len(before) else []
        waiting += [after] if len(after) else []
    return joined(ready).ordered() if ready else None, waiting


def _cast(data: npt.NDArray[Any], kind: type) -> npt.NDArray[Any]:
    """Return a column in one of the two forms that tests read; of floats the other one is never read."""
    if data.dtype.kind == "f" and kind is np.int64:
        return np.zeros(len(data), np.int64)
    return data.astype(kind)
