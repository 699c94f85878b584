"""The events of a window as the columns that the search reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.expressions import Evaluator, Values
from elsinore.actors.detection.comparing_numba_fns import NO_LEFT, NO_RIGHT
from elsinore.actors.detection.window import Window
from elsinore.planner.detection.normal_form import NormalForm, without_variable
from elsinore.planner.language.syntax import Expression

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FARTHEST = 2.0**61
"""Ticks behind which partitions begin at 0 again, in a part of their own. One partition has fewer ticks."""


@dataclass(frozen=True)
class Clocked:
    """The events of a window by partition and time, on one clock."""

    order: Ints
    """Rows of the window, sorted by partition and time."""
    at: Ints
    """By one of these rows, a virtual time: differences of up to `span` are those of the clock, and larger between
    partitions.
    """
    span: int

    @classmethod
    def of(cls, window: Window, counts_events: bool, span: int) -> list[Clocked]:
        """Return the events of a window; in several parts, each with partitions of its own, where these need more ticks
        than 64 bits count.
        """
        slots, ticks = window.slots, window.ticks(counts_events)
        if not len(slots) or slots.max() == 0:
            return [cls(np.arange(len(slots)), ticks, span)]
        order = np.argsort(slots, kind="stable")
        steps = np.diff(ticks[order], prepend=ticks[order[:1]])
        np.minimum(steps, span + 1, out=steps)
        steps[1:][np.diff(slots[order]) != 0] = span + 1
        at = np.empty(len(order), np.int64)
        parts = _parts(slots[order], steps)
        for lo, hi in pairwise(parts):
            at[order[lo:hi]] = np.cumsum(steps[lo:hi])
        return [cls(order[lo:hi], at, span) for lo, hi in pairwise(parts)]

    def neighbours(self, slots: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
        """Return, by row, the virtual times next before and next after its own in its partition."""
        at, slot = self.at[self.order], slots[self.order]
        if not len(at):
            return at, at
        new = np.flatnonzero(np.diff(at, prepend=at[0] - 1) != 0)
        run = np.repeat(np.arange(len(new)), np.diff(new, append=len(at)))
        times = np.concatenate([[0], at[new], [0]])
        owner = np.concatenate([[-1], slot[new], [-1]])
        before = np.where(owner[run] == slot, times[run], NO_RIGHT)
        after = np.where(owner[run + 2] == slot, times[run + 2], NO_LEFT)
        found = np.empty(len(self.at), np.int64), np.empty(len(self.at), np.int64)
        found[0][self.order], found[1][self.order] = before, after
        return found


def _parts(slots: npt.NDArray[np.int32], steps: Ints) -> list[int]:
    """Return the places at which to cut events by partition, so that each part has few enough ticks."""
    reached = np.cumsum(steps, dtype=np.float64)
    if reached[-1] < FARTHEST:
        return [0, len(slots)]
    begins = np.flatnonzero(np.diff(slots, prepend=-1))
    cuts = begins[1:][np.diff(reached[begins] // FARTHEST) != 0]
    return [0, *cuts.tolist(), len(slots)]


class Leaf:
    """The events of one type that satisfy the same conditions, sorted by partition and time."""

    def __init__(self, leaves: Leaves, rows: Ints) -> None:
        self.leaves = leaves
        self.rows = rows
        self._values: dict[Expression, Values] = {}
        self._asked: dict[int, tuple[Expression, Values]] = {}
        """By identity, expressions that were asked for, and their values."""
        self._in_window: dict[tuple[int, int], int] = {}

    def values(self, expression: Expression, query: str) -> Values:
        """Return the values of an expression that reads each event by itself."""
        if id(expression) not in self._asked:
            self._asked[id(expression)] = expression, self._read(without_variable(expression), query)
        return self._asked[id(expression)][1]

    def _read(self, expression: Expression, query: str) -> Values:
        if expression not in self._values:
            self._values[expression] = self.leaves.evaluator(self.rows, query).values(expression)
        return self._values[expression]

    def in_window(self, clocked: Clocked, span: int) -> int:
        """Return the most events in a window; `clocked` is the clock of its length."""
        key = id(clocked), span
        if key not in self._in_window:
            at = clocked.at[self.rows]
            begins = np.searchsorted(at, at - (span - 1))
            self._in_window[key] = int((np.arange(len(at)) - begins).max(initial=-1)) + 1
        return self._in_window[key]

    @cached_property
    def places(self) -> npt.NDArray[np.int32]:
        """Return the place of each event in this leaf, by its row in the window; of other rows nothing is known."""
        places = np.empty(len(self.leaves.window), np.int32)
        places[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return places


class Leaves:
    """The events of a window that may be bound to variables, for all queries over it; equal ones are found once."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.columns = window.columns
        types = window.events.column(0) if window.events is not None else None
        self._codes = types.indices.to_numpy() if types is not None else np.zeros(0, np.int32)
        self._types = types.dictionary.to_pylist() if types is not None else []
        self._in_order: npt.NDArray[np.int32] | None = None
        self._found: dict[tuple[str, tuple[Expression, ...]], Leaf] = {}

    def leaf_of(self, form: NormalForm, variable: str, order: Ints) -> Leaf:
        """Return the events that may be bound to a variable; `order` is that of partitions and times."""
        key = form.events[variable]
        if key not in self._found:
            name, conditions = form.types[variable], form.local[variable]
            self._found[key] = Leaf(self, self._rows(name, conditions, form.query.name, order))
        return self._found[key]

    def amount(self, name: str) -> int:
        """Return the number of events of a type."""
        return int(self._amounts[self._types.index(name)]) if name in self._types else 0

    @cached_property
    def _amounts(self) -> Ints:
        return np.bincount(self._codes, minlength=len(self._types))

    def _rows(self, name: str, conditions: tuple[Expression, ...], query: str, order: Ints) -> Ints:
        rows = order[:0]
        if name in self._types:
            rows = order[self._ordered(order) == self._types.index(name)]
        for condition in conditions:
            rows = rows[self.evaluator(rows, query).condition(condition)]
        return rows

    def _ordered(self, order: Ints) -> npt.NDArray[np.int32]:
        """Return the codes of the types in an order, which is the same for all queries."""
        if self._in_order is None:
            self._in_order = self._codes[order]
        return self._in_order

    def evaluator(self, rows: Ints, query: str) -> Evaluator:
        return Evaluator(_Taken(self.columns, rows), len(rows), query)


class _Taken(dict[str, pa.Array]):
    """Attributes of some rows, taken when they are asked for."""

    def __init__(self, columns: Mapping[str, pa.Array], rows: Ints) -> None:
        super().__init__()
        self.columns, self.rows = columns, pa.array(rows)

    def __missing__(self, name: str) -> pa.Array:
        self[name] = self.columns[name].take(self.rows)
        return self[name]


class Bindable:
    """The events that may be bound to the variables of one query; implements `formulas.Columns`."""

    def __init__(self, form: NormalForm, leaves: Leaves, clocked: Clocked) -> None:
        self.form = form
        self.query = form.query.name
        self.leaves = leaves
        self.clocked = clocked
        found = {name: leaves.leaf_of(form, name, clocked.order) for name in form.types}
        numbers = {leaf: number for number, leaf in enumerate(dict.fromkeys(found.values()))}
        self.leaf_of = {name: numbers[leaf] for name, leaf in found.items()}
        self.rows_of = [leaf.rows for leaf in numbers]
        self._found = found

    def rows(self, variable: str) -> Ints:
        return self._found[variable].rows

    def values(self, variable: str, expression: Expression) -> Values:
        return self._found[variable].values(expression, self.query)

    def places(self, variable: str) -> npt.NDArray[np.int32]:
        """Return the place of each row of the window among the events that may be bound to a variable."""
        return self._found[variable].places

    def in_window(self, variable: str, span: int) -> int:
        """Return the most events in a window that may be bound to a variable."""
        return self._found[variable].in_window(self.clocked, span)

    def truth(self, variable: str, expression: Expression) -> Mask:
        return self.leaves.evaluator(self.rows(variable), self.query).condition(expression)

    def starts(self) -> Ints:
        """Return where each leaf begins, and the end of the last."""
        return np.cumsum([0, *map(len, self.rows_of)])
