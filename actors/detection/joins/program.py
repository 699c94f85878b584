"""The program of a join: which entries its levels bind, in which range of times, and with which comparisons.

What a level binds was joined before, so all that is left to see to is what holds between levels. The order of two
events, that they differ, and that a match lies in one window are comparisons like those of the query, of columns of
times and rows. Where a range of times says the same, the comparison is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import numpy as np

from elsinore.actors.detection import comparing_numba_fns as operators
from elsinore.actors.detection.conditions import SWAPPED, Pair, pair_of
from elsinore.actors.detection.joins import join_numba_fns as kernel
from elsinore.actors.detection.joins.join_numba_fns import Join
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm

JoinTerm = tuple[tuple[int, ...], ...]
"""The order in which parts of a clause are joined: by level, its elements in the order of its source's slots.

The first level has the last event of a match; of levels that end at one time it is the one with the last element in the
order of the text."""


@dataclass(frozen=True)
class Column:
    """A column of a level's source that the program reads."""

    level: int
    kind: Literal["end", "start", "time", "row", "key"]
    slot: int = 0
    pair: Pair | None = None
    is_left: bool = False
    """Whether a key is that of the left side of its comparison."""


@dataclass(frozen=True)
class JoinProgram:
    clause: Clause
    join: Join
    columns: tuple[Column, ...]
    shown: tuple[int, ...]
    """The elements whose events are written for a match."""
    in_order: bool
    """Whether the matches of each event of the first level are found in the order of rows."""


def is_joined(clause: Clause) -> bool:
    """Return whether a clause has several single events with nothing but comparisons between them."""
    return is_single(clause) and not uncompared(clause)


def is_single(clause: Clause) -> bool:
    """Return whether a clause has several single events, and no gaps that have to be clear."""
    return len(clause.elements) > 1 and all(element.single for element in clause.elements) and not clause.gaps


def uncompared(clause: Clause) -> tuple[Condition, ...]:
    """Return the conditions of a clause that are no comparisons of two events."""
    return tuple(one for one in clause.conditions if not one.successive and _pair(one) is None)


def _pair(condition: Condition) -> Pair | None:
    return None if condition.successive or condition.summarised else pair_of(condition.expression)


def terms_of_join(clause: Clause, parts: Sequence[tuple[int, ...]]) -> tuple[JoinTerm, ...]:
    """Return a term for each part that may have the last event; the other parts stay in this order."""
    tops = [part for part in parts if not set(clause.lasts).isdisjoint(part)]
    return tuple((top, *(part for part in parts if part != top)) for top in tops)


def join_program(form: NormalForm, clause: Clause, term: JoinTerm, span: int, shown: Sequence[int]) -> JoinProgram:
    """Return the program of a term, for matches in windows of this length."""
    making = _Making(form, clause, term, span)
    for level in range(1, len(term)):
        making.add_level(level)
    for place, element in enumerate(shown):
        level, _ = making.at[element]
        making.add(kernel.SHOWN, level, place, making.column("row", element))
    in_order = all(len(part) == 1 for part in term) and clause.is_in_order([element for (element, *_) in term])
    return JoinProgram(clause, making.join(len(shown)), tuple(making.columns), tuple(shown), in_order)


@dataclass
class _Making:
    form: NormalForm
    clause: Clause
    levels: JoinTerm
    span: int
    columns: dict[Column, int] = field(default_factory=dict)
    lists: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        levels = self.levels
        self.order = self.clause.order
        self.at = {element: (level, slot) for level, part in enumerate(levels) for slot, element in enumerate(part)}
        self.ends = [self._number(Column(level, "end")) for level in range(len(levels))]
        self.element_of = {name: number for number, name in enumerate(self.clause.variables)}

    def _number(self, column: Column) -> int:
        return self.columns.setdefault(column, len(self.columns))

    def column(self, kind: Literal["time", "row"], element: int) -> int:
        level, slot = self.at[element]
        if kind == "time" and len(self.levels[level]) == 1:
            return self.ends[level]
        return self._number(Column(level, kind, slot))

    def add(self, kind: int, level: int, *numbers: int) -> None:
        self.lists.setdefault((kind, level), []).extend(numbers)

    def add_level(self, level: int) -> None:
        """Add what has to hold between a level and those before it."""
        own = self.levels[level]
        for before in range(level):
            for element in self.levels[before]:
                self._order(level, own, before, element)
        if len(own) > 1:
            self._compare(level, operators.AT_LEAST, self._number(Column(level, "start")), 0, self.ends[0])
        for condition in self.clause.conditions:
            self._condition(level, condition)

    def _order(self, level: int, own: tuple[int, ...], before: int, element: int) -> None:
        """Add how the elements of a level are ordered with one that is bound before."""
        order = self.order
        if all((one, element) in order for one in own):
            self.add(kernel.LATER, level, before, self.column("time", element))
            return
        if any((element, one) in order for one in own):
            self.add(kernel.EARLIER, level, before, self.column("time", element))
        for one in own:
            if (one, element) in order:
                self._times(level, operators.LESS, one, element)
            elif (element, one) in order:
                if len(own) > 1 and not self._implied(own, element, one):
                    self._times(level, operators.GREATER, one, element)
            elif self._may_be_same(one, element):
                self._compare(level, operators.NOT_EQUAL, self.column("row", one), before, self.column("row", element))

    def _implied(self, own: tuple[int, ...], element: int, one: int) -> bool:
        """Return whether an event comes after another because one before it does, or because it is the level's last."""
        among = any((element, other) in self.order and (other, one) in self.order for other in own)
        return among or all(other == one or (other, one) in self.order for other in own)

    def _times(self, level: int, operator: int, one: int, element: int) -> None:
        self._compare(level, operator, self.column("time", one), self.at[element][0], self.column("time", element))

    def _compare(self, level: int, operator: int, own: int, other_level: int, other: int) -> None:
        self.add(kernel.COMPARED, level, other_level, operator, own, other)

    def _may_be_same(self, one: int, other: int) -> bool:
        names = self.clause.variables
        return self.form.types[names[one]] == self.form.types[names[other]]

    def _condition(self, level: int, condition: Condition) -> None:
        """Add a comparison that is complete with a level."""
        pair = _pair(condition)
        if pair is None:
            return
        left, right = self.element_of[pair.left.variable], self.element_of[pair.right.variable]
        levels = self.at[left][0], self.at[right][0]
        if max(levels) != level or min(levels) == level:
            return
        columns = self._key(left, pair, True), self._key(right, pair, False)
        if levels[0] == level:
            self._compare(level, pair.operator, columns[0], levels[1], columns[1])
        else:
            self._compare(level, SWAPPED[pair.operator], columns[1], levels[0], columns[0])

    def _key(self, element: int, pair: Pair, is_left: bool) -> int:
        level, slot = self.at[element]
        return self._number(Column(level, "key", slot, pair, is_left))

    def join(self, width: int) -> Join:
        levels = range(len(self.levels))
        at = np.zeros((kernel.LISTS, len(levels) + 1), np.int32)
        data: list[int] = []
        for kind, level in product(range(kernel.LISTS), levels):
            at[kind, level] = len(data)
            data += self.lists.get((kind, level), ())
            at[kind, level + 1] = len(data)
        properties = [[self.ends[level], self._is_strict(level)] for level in levels]
        return Join(at, np.array(data, np.int32), np.array(properties, np.int32), self.span, width)

    def _is_strict(self, level: int) -> bool:
        """Return whether a level may not end at the same time as the first one."""
        return max(self.levels[level]) > max(self.levels[0])
