"""The search for the matches of one query in a window of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection import search_numba_fns as kernel
from elsinore.actors.detection.conditions import pair_of
from elsinore.actors.detection.entries import Bindable, Clocked, Leaves
from elsinore.actors.detection.filters import satisfying
from elsinore.actors.detection.formulas import Formula, Operation, Sides, UnsureError
from elsinore.actors.detection.keys import comparable
from elsinore.actors.detection.matches import ABSENT, Bound, Matches, joined, spread
from elsinore.actors.detection.orders import TESTED, Seen, ordered, selectivity
from elsinore.actors.detection.search_numba_fns import Entries, Output, Program, Stack
from elsinore.actors.detection.terms import Assembly, Code, Codes, PairCode, Term, terms_of
from elsinore.actors.detection.window import Window
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm
from elsinore.planner.language.errors import Problem, WorkloadError

Ints = npt.NDArray[np.int64]

Limit = Callable[[Matches], Matches]
"""What leaves the first matches of each group and end, of matches in the order of rows."""

NONE: Ints = np.zeros(0, np.int64)

ROOM = 1 << 20
"""Number of events of matches that a search writes before it is interrupted."""

WIDEST_TEST = 64
"""Number of values on the stack of a test, and of variables in it."""


@dataclass(frozen=True)
class Compiled:
    """A program, and what belongs to its terms."""

    program: Program
    terms: tuple[tuple[int, Term], ...]
    """The number of each term that is searched."""
    names: tuple[str, ...]
    """By number of a variable, its name."""
    filters: frozenset[Condition]
    """The conditions that the program does not decide."""


class Finder:
    """The search for the matches of one query."""

    def __init__(self, form: NormalForm, span: int) -> None:
        self.form = form
        self.span = span
        self.counts_events = form.query.counts_events
        self.ahead = form.looks_ahead
        """Whether a match is known only when its window is over."""
        self.by_first = self.ahead and form.query.limit is None
        """Whether matches are searched from their first events. LIMIT asks for all matches with one end together."""
        self.terms = tuple(term for clause in form.clauses for term in terms_of(clause, self.by_first))
        conditions = (one for clause in (*form.clauses, *self._guarding()) for one in clause.conditions)
        self.conditions = tuple(dict.fromkeys(conditions))
        self._compiled: tuple[object, Compiled] | None = None

    def _guarding(self) -> Iterator[Clause]:
        for guard in self.form.guards:
            yield from guard.clauses

    def search(self, window: Window, leaves: Leaves, clocked: Clocked, lo: int, hi: int) -> Search:
        """Return the search for the matches whose last (or first) event is one of the rows from `lo` to `hi`."""
        events = Bindable(self.form, leaves, clocked)
        codes, sides = self._codes(events)
        compiled = self._program(events, codes, self._orders(events, codes, sides))
        return Search(self, window, events, compiled, sides, lo, hi)

    def _codes(self, events: Bindable) -> tuple[dict[Condition, Code], Sides]:
        sides = Sides()
        codes: dict[Condition, Code] = {}
        for condition in self.conditions:
            pair = pair_of(condition.expression)
            if pair is not None and not condition.summarised:
                left = events.values(pair.left.variable, pair.left_side)
                right = events.values(pair.right.variable, pair.right_side)
                keys = comparable(left, right, pair.text, self.form.query.name)
                numbers = sides.add_keys(pair.left.variable, keys[0]), sides.add_keys(pair.right.variable, keys[1])
                codes[condition] = PairCode(pair.operator, pair.left, numbers[0], pair.right, numbers[1])
            elif code := self._formula(condition, events, sides):
                codes[condition] = code
        return codes, sides

    def _formula(self, condition: Condition, events: Bindable, sides: Sides) -> tuple[Operation, ...] | None:
        formula = Formula(events, sides)
        try:
            formula.condition(condition.expression)
        except UnsureError:
            late = condition.whole or self.form.query.semantics != "next"
            if late and condition.variables <= set(self.form.columns):
                return None
            message = f"{condition.expression} has to be decided while events are searched, and is no sum of numbers"
            hint = "compare numbers whose sums and products fit 64 bits"
            place, name = condition.expression.place, self.form.query.name
            raise WorkloadError([Problem(f"{message} that fit 64 bits", hint, place, name)]) from None
        return tuple(formula.code)

    def _orders(self, events: Bindable, codes: Codes, sides: Sides) -> tuple[Term, ...]:
        """Return the terms, each in the order that is cheapest for the events that there are."""
        if all(len(term.order) < 3 for term in self.terms):
            return self.terms
        at, order = events.clocked.at, events.clocked.order
        windows = max(1.0, float(at[order[-1]] - at[order[0]]) / self.span) if len(order) else 1.0
        rates = {name: len(events.rows(name)) / windows for name in self.form.types}
        found: dict[frozenset[str], float] = {}
        for condition, code in codes.items():
            if not condition.successive and not condition.whole:
                share = TESTED
                if isinstance(code, PairCode):
                    share = selectivity(code.operator, sides.keys[code.left_side][1], sides.keys[code.right_side][1])
                found[condition.variables] = found.get(condition.variables, 1.0) * share
        return tuple(ordered(term, Seen(rates, found)) for term in self.terms)

    def _program(self, events: Bindable, codes: Codes, terms: tuple[Term, ...]) -> Compiled:
        signature = (tuple(codes.items()), terms)
        if self._compiled is None or self._compiled[0] != signature:
            assembly = Assembly(self.form, events.leaf_of, codes, self.span)
            numbers = [assembly.main(term) for term in terms]
            filters = frozenset(one for one in self.conditions if one not in codes)
            program = assembly.program()
            numbered = tuple(zip(numbers, terms, strict=True))
            self._compiled = signature, Compiled(program, numbered, tuple(assembly.names), filters)
        return self._compiled[1]


class Search:
    """A search in progress."""

    def __init__(
        self,
        finder: Finder,
        window: Window,
        events: Bindable,
        compiled: Compiled,
        sides: Sides,
        lo: int,
        hi: int,
    ) -> None:
        self.form = finder.form
        self.by_first = finder.by_first
        self.span = finder.span
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
            np.cumsum([0, *map(len, triggers)]),
            np.concatenate([NONE, *keys]),
            self._bases([name for name, _ in sides.keys], keys, starts),
            np.concatenate([NONE, *(_cast(one.data, np.int64) for one in values)]),
            np.concatenate([np.zeros(0, np.float64), *(_cast(one.data, np.float64) for one in values)]),
            np.concatenate([np.zeros(0, np.bool_), *known]),
            self._bases([name for name, _ in sides.values], known, starts),
        )

    def _bases(self, names: list[str], columns: list[Ints], starts: Ints) -> Ints:
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
        depth = 2 * (longest + len(program.levels)) + 2
        return Stack(
            np.zeros((depth, kernel.FRAME_WIDTH), np.int64),
            np.zeros((len(program.levels), 3), np.int64),
            np.zeros(len(program.variables), np.int64),
            np.zeros(WIDEST_TEST, np.int64),
            np.zeros(WIDEST_TEST, np.int64),
            np.zeros(WIDEST_TEST, np.float64),
            np.zeros(WIDEST_TEST, np.bool_),
            np.zeros(1, np.int64),
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

    def count(self) -> int:
        """Return the number of matches."""
        if self.compiled.filters:
            return sum(map(len, self.matches()))
        return sum(
            kernel.search(self.compiled.program, self.entries, self.stack(), _output(0, 0), number, kernel.COUNT)
            for number, _ in self.compiled.terms
        )

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
        top = program.terms[number, kernel.FIRST]
        self.ascending = not search.by_first and not program.levels[top, kernel.FORWARDS]
        """Whether matches are found in the order of their last events."""
        self.reached = START
        """No match that is still to be found ends before this time."""

    def advance(self) -> list[Matches]:
        """Go on until the output is full or the end is reached; return what was found."""
        search = self.search
        output = _output(len(self.names), 0 if self.single else len(self.names))
        done = kernel.search(search.compiled.program, search.entries, self.stack, output, self.number, self.asked)
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

    def _read(self, output: Output) -> Matches:
        count, used = output.used.tolist()
        window, form = self.search.window, self.search.form
        assert window.events is not None
        table = output.rows[:used].reshape(count, -1) if self.single else None
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


def _output(width: int, counted: int) -> Output:
    most = ROOM // max(width, 1)
    counts = np.empty((most if counted else 0, counted), np.int32)
    return Output(np.empty(ROOM, np.int32), counts, np.zeros(2, np.int64), most)


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
