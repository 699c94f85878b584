"""The search for the matches of one query in a window of events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection import search_numba_fns as kernel
from elsinore.actors.detection.conditions import pair_of
from elsinore.actors.detection.entries import Bindable, Clocked, Leaves
from elsinore.actors.detection.filters import satisfying
from elsinore.actors.detection.formulas import Formula, Operation, Sides, UnsureError
from elsinore.actors.detection.keys import comparable
from elsinore.actors.detection.matches import ABSENT, Bound, Matches, joined, spread
from elsinore.actors.detection.search_numba_fns import Entries, Output, Program, Stack
from elsinore.actors.detection.terms import Assembly, Code, PairCode, Term, terms_of
from elsinore.actors.detection.window import Window
from elsinore.planner.detection.normal_form import Condition, NormalForm
from elsinore.planner.language.errors import Problem, WorkloadError

Ints = npt.NDArray[np.int64]

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
    filters: tuple[Condition, ...]


class Finder:
    """The search for the matches of one query."""

    def __init__(self, form: NormalForm, span: int) -> None:
        self.form = form
        self.span = span
        self.by_first = form.looks_ahead
        self.terms = [term for clause in form.clauses for term in terms_of(clause, self.by_first)]
        conditions = (one for clause in (*form.clauses, *self._guarding()) for one in clause.conditions)
        self.conditions = tuple(dict.fromkeys(conditions))
        self._compiled: tuple[object, Compiled] | None = None

    def _guarding(self) -> Iterator[object]:
        for guard in self.form.guards:
            yield from guard.clauses

    def search(self, window: Window, leaves: Leaves, clocked: Clocked, lo: int, hi: int) -> Search:
        """Return the search for the matches whose last (or first) event is one of the rows from `lo` to `hi`."""
        events = Bindable(self.form, leaves, clocked)
        codes, sides = self._codes(events)
        compiled = self._program(events, codes)
        return Search(self, window, events, compiled, sides, lo, hi)

    def _codes(self, events: Bindable) -> tuple[dict[Condition, Code], Sides]:
        sides = Sides()
        codes: dict[Condition, Code] = {}
        for condition in self.conditions:
            if condition.whole:
                continue
            pair = pair_of(condition.expression)
            if pair is not None:
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
            if self.form.query.semantics != "next" and condition.variables <= set(self.form.columns):
                return None
            message = f"a value of {condition.expression} may not fit 64 bits"
            place, name = condition.expression.place, self.form.query.name
            raise WorkloadError([Problem(message, "use smaller numbers", place, name)]) from None
        return tuple(formula.code)

    def _program(self, events: Bindable, codes: dict[Condition, Code]) -> Compiled:
        signature = tuple(codes.items())
        if self._compiled is None or self._compiled[0] != signature:
            assembly = Assembly(self.form, events.leaf_of, codes, self.span)
            numbers = [assembly.main(term) for term in self.terms]
            filters = tuple(one for one in self.conditions if one not in codes)
            program = assembly.program()
            terms = tuple(zip(numbers, self.terms, strict=True))
            self._compiled = signature, Compiled(program, terms, tuple(assembly.names), filters)
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
        self.window = window
        self.events = events
        self.compiled = compiled
        self.entries = self._entries(sides, lo, hi)
        self.stack = self._stack()

    def _entries(self, sides: Sides, lo: int, hi: int) -> Entries:
        events, clocked = self.events, self.events.clocked
        rows = np.concatenate([np.zeros(0, np.int64), *events.rows_of])
        starts = events.starts()
        before = after = np.zeros(0, np.int64)
        if self.form.query.semantics == "contiguous":
            before, after = (one[rows] for one in clocked.neighbours(self.window.slots))
        fresh = (rows >= lo) & (rows < hi)
        triggers = self._triggers(rows, starts, lo, hi)
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
            np.concatenate([np.zeros(0, np.int64), *triggers]),
            np.cumsum([0, *map(len, triggers)]),
            np.concatenate([np.zeros(0, np.int64), *keys]),
            self._bases([name for name, _ in sides.keys], keys, starts),
            np.concatenate([np.zeros(0, np.int64), *(_cast(one.data, np.int64) for one in values)]),
            np.concatenate([np.zeros(0, np.float64), *(_cast(one.data, np.float64) for one in values)]),
            np.concatenate([np.zeros(0, np.bool_), *known]),
            self._bases([name for name, _ in sides.values], known, starts),
        )

    def _bases(self, names: list[str], columns: list[Ints], starts: Ints) -> Ints:
        """Return what to add to an entry to find its value in columns that lie one behind another."""
        leaf_of = self.events.leaf_of
        begins = np.cumsum([0, *map(len, columns)])[:-1]
        return np.array([b - starts[leaf_of[name]] for b, name in zip(begins, names, strict=True)], np.int64)

    def _triggers(self, rows: Ints, starts: Ints, lo: int, hi: int) -> list[Ints]:
        """Return, by variable, the entries that the first level of a term may bind first."""
        program, terms = self.compiled.program, self.compiled.terms
        levels = {int(program.terms[number, kernel.FIRST]): term for number, term in terms}
        found = []
        for level, leaf in program.variables.tolist():
            if level not in levels:
                found.append(np.zeros(0, np.int64))
                continue
            first = lo
            if program.levels[level, kernel.FORWARDS] and not self.by_first:
                first = self._earliest(lo)
            own = rows[starts[leaf] : starts[leaf + 1]]
            found.append(starts[leaf] + np.flatnonzero((own >= first) & (own < hi)))
        return found

    def _earliest(self, row: int) -> int:
        """Return the first row that can be in one window with a row or a later one."""
        ticks = self.window.ticks(self.form.query.counts_events)
        if row >= len(ticks):
            return row
        return int(np.searchsorted(ticks, ticks[row] - self.events.clocked.span + 1))

    def _stack(self) -> Stack:
        program = self.compiled.program
        longest = 0
        if not program.levels[:, kernel.IS_SINGLE].all():
            at = self.events.clocked.at[self.events.clocked.order]
            lengths = np.arange(len(at)) - np.searchsorted(at, at - self.events.clocked.span)
            longest = int(lengths.max(initial=0)) + 1
        depth = 2 * (longest + len(program.levels)) + 2
        return Stack(
            np.zeros((depth, kernel.FRAME_WIDTH), np.int64),
            np.zeros((len(program.levels), 2), np.int64),
            np.zeros(len(program.variables), np.int64),
            np.zeros(WIDEST_TEST, np.int64),
            np.zeros(WIDEST_TEST, np.int64),
            np.zeros(WIDEST_TEST, np.float64),
            np.zeros(WIDEST_TEST, np.bool_),
            np.zeros(1, np.int64),
        )

    def chunks(self) -> Iterator[Matches]:
        """Yield the matches, as many at a time as there is room for, in no order."""
        for number, term in self.compiled.terms:
            asked = kernel.LIST
            while True:
                output, names = self._output(number, term)
                done = kernel.search(self.compiled.program, self.entries, self.stack, output, number, asked)
                asked = kernel.RESUME
                if output.used[0]:
                    yield self._kept(self._matches(output, names))
                elif done == kernel.FULL:
                    raise MemoryError("a match has more events than a search can write")
                if done != kernel.FULL:
                    break

    def count(self) -> int:
        """Return the number of matches without listing them; conditions on whole matches are not looked at."""
        total = 0
        for number, term in self.compiled.terms:
            output, _ = self._output(number, term)
            total += kernel.search(self.compiled.program, self.entries, self.stack, output, number, kernel.COUNT)
        return total

    def all(self) -> Matches | None:
        """Return all matches in the order of rows; None if there are none."""
        found = [one for one in self.chunks() if len(one)]
        return joined(found).ordered() if found else None

    def _output(self, number: int, term: Term) -> tuple[Output, list[str]]:
        program = self.compiled.program
        columns = program.data[program.at[kernel.COLUMNS, number] : program.at[kernel.COLUMNS, number + 1]]
        names = [self.compiled.names[variable] for variable in columns]
        single = all(element.single for element in term.clause.elements)
        most = ROOM // max(len(names), 1)
        counts = np.zeros((0 if single else most, 0 if single else len(names)), np.int32)
        return Output(np.zeros(ROOM, np.int32), counts, np.zeros(2, np.int64), most), names

    def _matches(self, output: Output, names: list[str]) -> Matches:
        count, used = output.used.tolist()
        rows = output.rows[:used]
        counts = (
            output.counts[:count].astype(np.int64) if output.counts.shape[1] else np.ones((count, len(names)), np.int64)
        )
        ends = np.cumsum(counts).reshape(counts.shape)
        bound = {}
        for name in self.form.columns:
            if name in names:
                column = names.index(name)
                bound[name] = self._bound(name, rows, ends[:, column] - counts[:, column], counts[:, column])
            else:
                none = np.zeros(count, np.int64)
                bound[name] = self._bound(name, rows, none, none)
        each = np.cumsum(counts.sum(axis=1))
        begins = each - counts.sum(axis=1)
        first, last = np.minimum.reduceat(rows, begins), np.maximum.reduceat(rows, begins)
        window = self.window
        assert window.events is not None
        return Matches(
            self.form.query.name,
            window.times[first],
            window.times[last],
            window.slots[first],
            bound,
            window.events,
            window.times,
        )

    def _bound(self, name: str, rows: npt.NDArray[np.int32], begins: Ints, counts: Ints) -> Bound:
        if name in self.form.lists:
            return Bound(rows[spread(begins, counts)], np.concatenate([[0], np.cumsum(counts)]))
        return Bound(
            np.where(counts > 0, np.append(rows, ABSENT)[np.minimum(begins, len(rows))], ABSENT).astype(np.int32)
        )

    def _kept(self, matches: Matches) -> Matches:
        for condition in self.compiled.filters:
            if len(matches):
                matches = matches.take(np.flatnonzero(satisfying(matches, condition)))
        return matches


def _cast(data: npt.NDArray[np.generic], kind: type) -> npt.NDArray[np.generic]:
    """Return a column in one of the two forms that tests read; of floats the other one is never read."""
    if data.dtype.kind == "f" and kind is np.int64:
        return np.zeros(len(data), np.int64)
    return data.astype(kind)
