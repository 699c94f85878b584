"""Programs of the search: the terms of a query's clauses, as the arrays that the kernel reads.

A clause is searched by one term for each element that may have the last event of a match (the first event, where it is
searched by that). The terms are disjoint: of events of the same time, the last element in the order of the text counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from elsinore.actors.detection.conditions import SWAPPED, Reader
from elsinore.actors.detection.frames import search_numba_fns as kernel
from elsinore.actors.detection.frames.formulas import Operation
from elsinore.actors.detection.frames.search_numba_fns import Program
from elsinore.planner.detection.chains import Chain, chain
from elsinore.planner.detection.normal_form import Clause, Condition, Element, NormalForm
from elsinore.planner.language.syntax import Pattern

FOLLOWING = {"any": kernel.ANY, "next": kernel.NEXT, "contiguous": kernel.CONTIGUOUS}


COUNTED_NONE = (kernel.WHOLE_LITERAL, 0, 0, 0, 0, 0)
SUMMED_NONE = (kernel.NOTHING, 0, 0, 0, 0, 0)
"""What stands for a summary of a variable that is absent."""


@dataclass(frozen=True)
class Term:
    """The order in which the elements of a clause are searched; the first has the last (or first) event of a match."""

    clause: Clause
    order: tuple[int, ...]
    by_first: bool = False
    given: frozenset[int] = frozenset()
    """The elements whose events are known with the last one."""
    in_order: bool = False
    """Whether matches of one last event are found in the order of rows; lists are then read from their first events."""


@dataclass(frozen=True)
class PairCode:
    """A comparison of two events with the numbers of its sides."""

    operator: int
    left: Reader
    left_side: int
    right: Reader
    right_side: int


Code = PairCode | tuple[Operation, ...]
"""What the kernel reads of a condition."""

Codes = Mapping[Condition, Code]


def terms_of(clause: Clause, by_first: bool) -> list[Term]:
    """Return the terms of a clause, the other elements in the order of the text."""
    ends = clause.firsts if by_first else clause.lasts
    return [Term(clause, (end, *(e for e in range(len(clause.elements)) if e != end)), by_first) for end in ends]


def terms_around(clause: Clause) -> list[Term]:
    """Return the terms of a clause whose single events are given, where these have the last event of a match."""
    single = frozenset(number for number, element in enumerate(clause.elements) if element.single)
    found = []
    for end in clause.lasts:
        others = sorted((e for e in range(len(clause.elements)) if e != end), key=lambda e: e not in single)
        if end in single:
            found.append(Term(clause, (end, *others), given=single))
    return found


@cache
def chain_of(pattern: Pattern, guards: tuple[Pattern, ...], backwards: bool) -> Chain:
    return chain(pattern, guards, backwards)


@dataclass
class Assembly:
    """A program in the making. Every term has variables, guards and tests of its own numbering."""

    form: NormalForm
    leaves: Mapping[str, int]
    codes: Codes
    span: int
    lists: list[dict[int, list[int]]] = field(default_factory=lambda: [{} for _ in range(kernel.LISTS)])
    terms: list[list[int]] = field(default_factory=list)
    levels: list[list[int]] = field(default_factory=list)
    variables: list[list[int]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    accepts: list[bool] = field(default_factory=list)
    reals: list[float] = field(default_factory=list)
    wholes: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=lambda: [0] * kernel.LISTS)
    names: list[str] = field(default_factory=list)
    """By number of a variable, its name."""

    def number(self, kind: int, items: Sequence[int]) -> int:
        """Add a list, and return its number."""
        number = self.counts[kind]
        self.counts[kind] += 1
        self.lists[kind][number] = list(items)
        return number

    def add(self, kind: int, number: int, *items: int) -> None:
        self.lists[kind].setdefault(number, []).extend(items)

    def main(self, term: Term) -> int:
        """Add a term whose matches are written, and return its number."""
        outer = _Instance(self, term, {}, triggered=True)
        return outer.number

    def program(self) -> Program:
        size = max(*self.counts, len(self.levels), len(self.variables), len(self.terms)) + 1
        at = np.zeros((kernel.LISTS, size), np.int32)
        data: list[int] = []
        for kind, lists in enumerate(self.lists):
            for number in range(at.shape[1] - 1):
                at[kind, number] = len(data)
                data += lists.get(number, ())
            at[kind, -1] = len(data)
        return Program(
            at,
            np.array(data, np.int32),
            np.array(self.terms, np.int64).reshape(-1, kernel.TERM_WIDTH),
            np.array(self.levels, np.int32).reshape(-1, kernel.LEVEL_WIDTH),
            np.array(self.variables, np.int32).reshape(-1, 2),
            np.array(self.steps, np.int32),
            np.array(self.accepts, np.bool_),
            np.array(self.reals, np.float64),
            np.array(self.wholes, np.int64),
        )


class _Instance:
    """One term of a program, with the guards that it asks."""

    def __init__(self, assembly: Assembly, term: Term, outer: Mapping[str, int], triggered: bool) -> None:
        self.all = assembly
        self.term = term
        self.clause = term.clause
        self.triggered = triggered
        self.guards: dict[int, int] = {}
        first = len(assembly.levels)
        self.level_of = {element: first + i for i, element in enumerate(term.order)}
        assembly.levels += [[0] * kernel.LEVEL_WIDTH for _ in term.order]
        self.variables = dict(outer)
        for element in term.order:
            for name in self.clause.elements[element].variables:
                self.variables[name] = len(assembly.variables)
                assembly.variables.append([self.level_of[element], assembly.leaves[name]])
                assembly.names.append(name)
        self.number = len(assembly.terms)
        assembly.terms.append([first, first + len(term.order), assembly.span, term.by_first, triggered])
        self._conditions()
        for element in term.order:
            self._level(element)
        self._gaps()
        if triggered:
            bound = set(self.clause.variables)
            columns = [self.variables[name] for name in assembly.form.columns if name in bound]
            assembly.add(kernel.COLUMNS, self.number, *columns)

    def _level(self, element: int) -> None:
        number, one = self.level_of[element], self.clause.elements[element]
        from_first = one.semantics == "next" or (self.term.in_order and element != self.term.order[0])
        forwards = self.term.by_first or (from_first and not one.single)
        order = self.clause.order
        bound = self.term.order[: self.term.order.index(element)]
        levels = self.level_of
        earlier = [e for e in bound if (e, element) in order]
        later = [e for e in bound if (element, e) in order]
        beside = [e for e in bound if e not in earlier and e not in later and self._may_share(e, element)]
        read = self._chain(one, not forwards)
        labels = [self.variables[name] for name in read.variables]
        properties = self.all.levels[number]
        properties[kernel.FORWARDS] = forwards
        properties[kernel.FOLLOWING] = FOLLOWING[one.semantics]
        properties[kernel.STEPS] = len(self.all.steps)
        properties[kernel.ACCEPTS] = len(self.all.accepts)
        properties[kernel.MASKS] = read.masks
        properties[kernel.STRICT] = self._strict(element)
        properties[kernel.IS_SINGLE] = one.single
        properties[kernel.GIVEN] = element in self.term.given and element != self.term.order[0]
        self.all.steps += (after for state in read.steps for label in state for after in label)
        self.all.accepts += (accepted for state in read.accepts for accepted in state)
        self.all.add(kernel.LABELS, number, *labels)
        self.all.add(kernel.EARLIER, number, *(levels[e] for e in earlier if not self._nearer(e, earlier)))
        self.all.add(kernel.LATER, number, *(levels[e] for e in later if not self._nearer(e, later, back=True)))
        self.all.add(kernel.UNEQUAL, number, *(levels[e] for e in beside))
        self.all.add(kernel.PRECEDING, number, *(levels[a] for a, b in order if b == element))
        self.all.add(kernel.SUCCEEDING, number, *(levels[b] for a, b in order if a == element))
        for guard in read.guards:
            late = guard in read.edges or bool(self.all.form.guards[guard].outer)
            properties[kernel.LATE] |= late
            self.all.add(kernel.GUARDS, number, self._guard(guard), late)

    def _nearer(self, element: int, others: Sequence[int], back: bool = False) -> bool:
        """Return whether another element lies between this one and the next."""
        return any(((other, element) if back else (element, other)) in self.clause.order for other in others)

    def _may_share(self, a: int, b: int) -> bool:
        types = self.all.form.types
        one, other = ({types[name] for name in self.clause.elements[e].variables} for e in (a, b))
        return not one.isdisjoint(other)

    def _strict(self, element: int) -> bool:
        """Return whether an element may not tie with the one that has the last (or first) event."""
        top = self.term.order[0]
        if self.term.by_first:
            return element in self.clause.firsts and element < top
        return element in self.clause.lasts and element > top

    def _chain(self, element: Element, backwards: bool) -> Chain:
        patterns = tuple(guard.pattern for guard in self.all.form.guards)
        return chain_of(element.pattern, patterns, backwards)

    def _guard(self, guard: int) -> int:
        """Return the number of a guard's terms inside of this term."""
        if guard not in self.guards:
            self.guards[guard] = number = self.all.number(kernel.TERMS, ())
            for clause in self.all.form.guards[guard].clauses:
                term = Term(clause, tuple(range(len(clause.elements))))
                self.all.add(kernel.TERMS, number, _Instance(self.all, term, self.variables, False).number)
        return self.guards[guard]

    def _gaps(self) -> None:
        for gap in self.clause.gaps:
            number = self.all.number(kernel.AFTER, [self.level_of[e] for e in gap.after])
            self.all.add(kernel.BEFORE, number, *(self.level_of[e] for e in gap.before))
            needed = {self.level_of[e] for e in (*gap.after, *gap.before)}
            if not gap.after or not gap.before:
                needed |= set(self.level_of.values())
            for way in gap.ways:
                self.all.add(kernel.WAYS, number, len(way), *(self._guard(guard) for guard in sorted(way)))
                names = (name for guard in way for name in self.all.form.guards[guard].outer)
                needed |= {self.all.variables[self.variables[name]][0] for name in names if name in self.variables}
            self.all.add(kernel.GAPS, max(needed), number)

    def _conditions(self) -> None:
        for condition in self.clause.conditions:
            code = self.all.codes.get(condition)
            if code is None or not condition.variables <= self.variables.keys():
                continue
            if isinstance(code, PairCode):
                (self._neighbours if condition.successive else self._pair)(code)
            else:
                self._test(condition, code)

    def _own(self, *names: str) -> bool:
        return len({self.all.variables[self.variables[name]][0] for name in names}) == 1

    def _pair(self, code: PairCode) -> None:
        left, right = self.variables[code.left.variable], self.variables[code.right.variable]
        own = self._own(code.left.variable, code.right.variable)
        self.all.add(kernel.COMPARED, left, right, code.operator, code.left_side, code.right_side, own)
        self.all.add(kernel.COMPARED, right, left, SWAPPED[code.operator], code.right_side, code.left_side, own)

    def _test(self, condition: Condition, code: tuple[Operation, ...]) -> None:
        number = self._code(code)
        if condition.whole:
            self.all.add(kernel.CHOSEN, number, *(self.variables[name] for name in sorted(condition.variables)))
            self.all.add(kernel.FINALS, self.number, number)
            return
        own = self._own(*condition.variables)
        chosen = [self.variables[name] for name in sorted(condition.variables)]
        self.all.add(kernel.CHOSEN, number, *chosen)
        for variable in chosen:
            self.all.add(kernel.TESTED, variable, number, own)

    def _neighbours(self, code: PairCode) -> None:
        """Add a comparison of an event with the next of its chain."""
        operator, sides = code.operator, (code.left_side, code.right_side)
        if code.left.next:
            operator, sides = SWAPPED[operator], (code.right_side, code.left_side)
        self.all.add(kernel.SUCCESSORS, self.variables[code.left.variable], operator, *sides)

    def _code(self, code: tuple[Operation, ...]) -> int:
        return self.all.number(kernel.CODE, [number for one in code for number in self._operation(*one)])

    def _operation(self, code: int, *operands: Any) -> list[int]:
        if code == kernel.REAL_LITERAL:
            self.all.reals.append(operands[0])
            return [code, len(self.all.reals) - 1, *operands[1:]]
        if code == kernel.WHOLE_LITERAL:
            self.all.wholes.append(operands[0])
            return [code, len(self.all.wholes) - 1, *operands[1:]]
        if code == kernel.SUMMARY and operands[1].variable not in self.variables:
            return self._operation(*(COUNTED_NONE if operands[0] == kernel.OF_COUNT else SUMMED_NONE))
        return [code, *(self.variables[one.variable] if isinstance(one, Reader) else one for one in operands)]
