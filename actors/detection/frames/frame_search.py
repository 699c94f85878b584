"""Terms that the search of frames finds: lists, chains, guards, and conditions that are no comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.entries import Bindable
from elsinore.actors.detection.frames import search_numba_fns as kernel
from elsinore.actors.detection.frames.formulas import Sides
from elsinore.actors.detection.frames.search_numba_fns import Entries, Output, Program, Stack
from elsinore.actors.detection.frames.terms import Term
from elsinore.actors.detection.matches import ABSENT, Bound, spread
from elsinore.actors.detection.term_search import ALL, NONE, ROOM, Chunk, Cursor, Ints
from elsinore.actors.detection.window import Window
from elsinore.planner.detection.normal_form import Clause, NormalForm


@dataclass(frozen=True)
class FrameProgram:
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


@dataclass(frozen=True)
class Core:
    """Matches of the single events of a clause, which were joined before."""

    names: Sequence[str]
    rows: npt.NDArray[np.int32]
    """By match and variable, rows of the window."""


NO_CORES: Mapping[Clause, Core] = {}


class Frames:
    """The search of the terms of a program over some events."""

    def __init__(
        self,
        compiled: FrameProgram,
        window: Window,
        events: Bindable,
        sides: Sides,
        lo: int,
        hi: int,
        cores: Mapping[Clause, Core] = NO_CORES,
    ) -> None:
        """Take in `cores`: by clause, the matches of its single events that end with rows from `lo` to `hi`."""
        self.form = compiled.form
        self.by_first = compiled.by_first
        self.span = compiled.span
        self.window = window
        self.events = events
        self.compiled = compiled
        self.entries = self._entries(sides, lo, hi, cores)

    def terms(self) -> list[FrameTerm]:
        return [FrameTerm(self, number, term) for number, term in self.compiled.terms]

    def _given(self, term: Term, core: Core, starts: Ints) -> tuple[Ints, list[Ints]]:
        """Return the entries of the last events of a core's matches that one element ends, and those of the others.

        Of elements that end at the same time, the last one in the order of the text counts.
        """
        column = {name: number for number, name in enumerate(core.names)}
        names = [term.clause.elements[element].variables[0] for element in term.order if element in term.given]
        rows = core.rows
        at = self.events.clocked.at
        own = at[rows[:, column[names[0]]]]
        ends = np.ones(len(rows), np.bool_)
        for element, name in zip((e for e in term.order if e in term.given), names, strict=True):
            if element != term.order[0]:
                other = at[rows[:, column[name]]]
                ends &= other < own if element > term.order[0] else other <= own
        found = np.flatnonzero(ends)
        found = found[np.argsort(rows[found, column[names[0]]], kind="stable")]
        entries = [
            starts[self.events.leaf_of[name]] + self.events.places(name)[rows[found, column[name]]] for name in names
        ]
        return entries[0].astype(np.int64), [one.astype(np.int64) for one in entries[1:]]

    def _entries(self, sides: Sides, lo: int, hi: int, cores: Mapping[Clause, Core]) -> Entries:
        events, clocked = self.events, self.events.clocked
        rows = np.concatenate([NONE, *events.rows_of])
        starts = events.starts()
        before = after = np.zeros(0, np.int64)
        if self.form.query.semantics == "contiguous":
            before, after = (one[rows] for one in clocked.neighbours(self.window.slots))
        fresh = (rows >= lo) & (rows < hi)
        program = self.compiled.program
        by_term: list[tuple[Ints, Ints]] = [(NONE, NONE)] * len(program.terms)
        given: dict[int, Ints] = {}
        for number, term in self.compiled.terms:
            if term.given:
                triggers, others = self._given(term, cores[term.clause], starts)
                by_term[number] = triggers, np.zeros(len(triggers), np.int64)
                given |= {int(program.terms[number, kernel.FIRST]) + 1 + at: one for at, one in enumerate(others)}
            else:
                by_term[number] = self._triggers(number, starts, lo, hi)
        triggers_of, labels = zip(*by_term, strict=True)
        by_level = [given.get(level, NONE) for level in range(len(program.levels))]
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
            np.concatenate(triggers_of),
            np.concatenate(labels),
            _bounds(triggers_of),
            np.concatenate([NONE, *by_level]),
            np.cumsum([0, *map(len, by_level)]),
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
            first = self.earliest(lo)
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

    def earliest(self, row: int) -> int:
        """Return the first row that can be in one window with a row or a later one."""
        ticks = self.window.ticks(self.form.query.counts_events)
        if row >= len(ticks):
            return row
        return int(np.searchsorted(ticks, ticks[row] - self.span + 1))

    @cached_property
    def _longest(self) -> int:
        """Return a bound of the number of events that lists bind at one time."""
        program = self.compiled.program
        lists = (level for level in range(len(program.levels)) if not program.levels[level, kernel.IS_SINGLE])
        return sum(self.in_window(name) for level in lists for name in self.names_of(level))

    def names_of(self, level: int) -> list[str]:
        """Return the variables that a level binds."""
        program = self.compiled.program
        labels = program.data[slice(*program.at[kernel.LABELS, level : level + 2])]
        return [self.compiled.names[variable] for variable in labels]

    def in_window(self, name: str) -> int:
        """Return the most events in a window that a variable may bind."""
        return self.events.in_window(name, self.span)

    def stack(self) -> Stack:
        """Return an empty stack."""
        program = self.compiled.program
        values = len(program.data) + 1  # no test has more operations, or more variables
        depth = 2 * (self._longest + len(program.levels)) + 2
        return Stack(
            np.zeros((depth, kernel.FRAME_WIDTH), np.int64),
            np.zeros((len(program.levels), 3), np.int64),
            np.zeros(len(program.variables), np.int64),
            np.zeros(values, np.int64),
            np.zeros(values, np.int64),
            np.zeros(values, np.float64),
            np.zeros(values, np.bool_),
            np.zeros(3, np.int64),
        )


class FrameTerm:
    """One term of a program; implements `TermSearch`."""

    def __init__(self, frames: Frames, number: int, term: Term) -> None:
        self.frames = frames
        self.number = number
        self.clause: Clause = term.clause
        program = frames.compiled.program
        columns = program.data[slice(*program.at[kernel.COLUMNS, number : number + 2])]
        self.names = [frames.compiled.names[variable] for variable in columns]
        self.single = all(element.single for element in term.clause.elements)
        runs_ahead = program.levels[program.terms[number, kernel.FIRST], kernel.FORWARDS]
        self.ascending = not frames.by_first and not runs_ahead
        self.in_order = term.in_order
        self.skips = term.in_order and not term.given
        self.most = ALL
        self.entries = frames.entries
        own = self.entries.triggers[slice(*self.entries.triggers_at[number])]
        self.rows: Ints = self.entries.row[own].astype(np.int64)

    def begin(self) -> Cursor:
        return _FrameCursor(self, self.frames.stack())

    def run(self, stack: Stack, output: Output, asked: int) -> int:
        """Search as far as there is room; return what the kernel does."""
        return kernel.search(self.frames.compiled.program, self.entries, stack, output, self.number, asked)

    def counts(self) -> Ints:
        output = _output(0, 0, len(self.entries.triggers))
        self.run(self.frames.stack(), output, kernel.COUNT)
        return output.found[slice(*self.entries.triggers_at[self.number])]

    def first(self, most: int) -> FrameTerm:
        """Return the search for the first matches of each trigger, if matches are found in the order of rows."""
        if not self.in_order:
            return self
        other = copy(self)
        other.most = most
        return other

    def between(self, lo: int, hi: int) -> FrameTerm:
        bounds = self.entries.triggers_at.copy()
        bounds[self.number] = bounds[self.number, 0] + np.searchsorted(self.rows, [lo, hi])
        other = copy(self)
        first = self.entries.triggers_at[self.number, 0]
        other.rows = self.rows[bounds[self.number, 0] - first : bounds[self.number, 1] - first]
        # Given events lie as their triggers do.
        given_at = self.entries.given_at.copy()
        levels = self.frames.compiled.program.terms[self.number, [kernel.FIRST, kernel.END]]
        given_at[slice(*levels)] += bounds[self.number, 0] - first
        other.entries = self.entries._replace(triggers_at=bounds, given_at=given_at)
        return other


class _FrameCursor:
    """The search of one term, as far as it has come."""

    def __init__(self, term: FrameTerm, stack: Stack) -> None:
        self.term = term
        self.stack = stack
        self.asked = kernel.LIST

    def advance(self) -> tuple[Chunk, bool]:
        term = self.term
        output = _output(len(term.names), 0 if term.single else len(term.names), most=term.most)
        done = term.run(self.stack, output, self.asked)
        self.asked = kernel.RESUME
        if done == kernel.FULL and not output.used[0]:
            raise MemoryError("a match has more events than a search can write")
        return self._read(output), done != kernel.FULL

    def skip(self) -> None:
        first, end = self.term.frames.compiled.program.terms[self.term.number, [kernel.FIRST, kernel.END]]
        self.stack.levels[first + 1 : end, 1] = 0
        self.stack.frames[0, kernel.STAGE] = kernel.RELEASE
        self.stack.depth[0] = 0

    @property
    def trigger(self) -> int:
        first = self.term.entries.triggers_at[self.term.number, 0]
        return int(self.stack.frames[0, kernel.CURSOR] - 1 - first)

    def _read(self, output: Output) -> Chunk:
        count, used = output.used.tolist()
        if self.term.single:
            return Chunk.of_table(self.term.names, output.rows[:used].reshape(count, len(self.term.names)))
        return Chunk(count, self._lists(output, count, used))

    def _lists(self, output: Output, count: int, used: int) -> dict[str, Bound]:
        rows, counts = output.rows[:used], output.counts[:count].astype(np.int64)
        begins = np.cumsum(counts).reshape(counts.shape) - counts
        found = {}
        for column, name in enumerate(self.term.names):
            begin, size = begins[:, column], counts[:, column]
            if name in self.term.frames.form.lists:
                found[name] = Bound(rows[spread(begin, size)], np.concatenate([[0], np.cumsum(size)]))
            else:
                one = np.append(rows, np.int32(ABSENT))[np.minimum(begin, used)]
                found[name] = Bound(np.where(size > 0, one, np.int32(ABSENT)))
        return found


def _output(width: int, counted: int, triggers: int = 0, most: int = ALL) -> Output:
    """Return room for matches of so many variables (0: none), with their numbers of events by variable or not."""
    room = ROOM // width if width else 0
    counts = np.empty((room if counted else 0, counted), np.int32)
    rows = np.empty(ROOM if width else 0, np.int32)
    return Output(rows, counts, np.zeros(2, np.int64), room, np.zeros(triggers, np.int64), most)


def _bounds(parts: Sequence[Ints]) -> Ints:
    """Return where parts that lie one behind another begin, and where they end."""
    ends = np.cumsum([len(part) for part in parts])
    return np.stack([ends - [len(part) for part in parts], ends], axis=1).astype(np.int64)


def _cast(data: npt.NDArray[Any], kind: type) -> npt.NDArray[Any]:
    """Return a column in one of the two forms that tests read; of floats the other one is never read."""
    if data.dtype.kind == "f" and kind is np.int64:
        return np.zeros(len(data), np.int64)
    return data.astype(kind)
