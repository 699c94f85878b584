"""The search for the matches of one query: its terms, their orders, and the programs that kernels read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

import numpy as np

from elsinore.actors.detection.conditions import pair_of
from elsinore.actors.detection.entries import Bindable
from elsinore.actors.detection.frames.formulas import Formula, Operation, Sides, UnsureError
from elsinore.actors.detection.frames.frame_search import Core, FrameProgram, Frames
from elsinore.actors.detection.frames.terms import Assembly, Code, Codes, PairCode, Term, terms_around, terms_of
from elsinore.actors.detection.joins.join_search import JoinSearch
from elsinore.actors.detection.joins.program import JoinProgram, is_joined, is_single, join_program, uncompared
from elsinore.actors.detection.joins.sources import Joined
from elsinore.actors.detection.joins.stores import Member, projected
from elsinore.actors.detection.keys import comparable
from elsinore.actors.detection.orders import Seen, choices_of, ordered, seen_of
from elsinore.actors.detection.searching import Search
from elsinore.actors.detection.tallies.tallied import Tallied, is_tallied, tallied_term
from elsinore.actors.detection.term_search import JoinedSearch, TermSearch, table_of
from elsinore.actors.detection.window import Window
from elsinore.planner.detection.clauses import patterns_of
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.language.errors import Problem, WorkloadError

MOST_NUMBERS = 1 << 24
"""Events of matches of single events above which a clause is searched without them."""


class Finder:
    """The search for the matches of one query.

    Clauses of single events with nothing but comparisons are joined; the others are searched with frames.
    """

    def __init__(self, form: NormalForm, span: int) -> None:
        self.form = form
        self.span = span
        self.counts_events = form.query.counts_events
        self.ahead = form.looks_ahead
        """Whether a match is known only when its window is over."""
        self.by_first = self.ahead and form.query.limit is None
        """Whether matches are searched from their first events. LIMIT asks for all matches with one end together."""
        by_clause = [terms_of(clause, self.by_first) for clause in form.clauses]
        self.terms = tuple(term for terms in by_clause for term in terms)
        self._clauses = [number for number, terms in enumerate(by_clause) for _ in terms]
        """By term, the number of its clause."""
        framed = [clause for clause in form.clauses if not self._is_joined(clause)]
        conditions = (one for clause in self._clauses_of(form) for one in clause.conditions) if framed else ()
        self.conditions = tuple(dict.fromkeys(conditions))
        """Those that are read where clauses are searched with frames."""
        self._pairs = [None if one.summarised else pair_of(one.expression) for one in self.conditions]
        self._choices = choices_of(form)
        self._seen: Seen | None = None
        self._ordered = self.terms
        self._framed: tuple[object, FrameProgram, frozenset[Condition]] | None = None
        self._programs: dict[Term, JoinProgram] = {}

    def _is_joined(self, clause: Clause) -> bool:
        return not self.by_first and is_joined(clause)

    def _clauses_of(self, form: NormalForm) -> Iterator[Clause]:
        yield from form.clauses
        for guard in form.guards:
            yield from guard.clauses

    def members(self) -> dict[int, tuple[Member, Pattern]]:
        """Return the single events of clauses, which a plan of many patterns can join, by number of the clause."""
        found = {}
        for number, pattern in {} if self.ahead else patterns_of(self.form).items():
            core = core_of(self.form.clauses[number])
            if len(core.elements) > 1:
                found[number] = Member(self.form, core, self.span), pattern
        return found

    def search(
        self, window: Window, events: Joined, lo: int, hi: int, planned: Mapping[int, Sequence[JoinedSearch]]
    ) -> Search:
        """Return the search for the matches whose last (or first) event is one of the rows from `lo` to `hi`.

        `planned`: by number of a clause, the searches for its single events, where a plan of many patterns joins them.
        """
        clauses = self.form.clauses
        joined = {number: found for number, found in planned.items() if is_single(clauses[number])}
        searches: list[TermSearch] = [one for found in joined.values() for one in found]
        filters = frozenset(one for number in joined for one in uncompared(clauses[number]))
        if len(joined) == len(clauses):
            return Search(self.form, window, searches, filters)
        found_cores = {number: _core(found) for number, found in planned.items() if number not in joined}
        cores = {number: core for number, core in found_cores.items() if core is not None}
        terms = self._terms(events, joined.keys(), cores.keys())
        searches += (self._join(term, events, lo, hi) for term in terms if self._is_joined(term.clause))
        framed = tuple(term for term in terms if not self._is_joined(term.clause))
        if not framed:
            return Search(self.form, window, searches, filters)
        bindable = Bindable(self.form, events.leaves, events.clocked)
        codes, sides = self._codes(bindable)
        program, undecided = self._program(bindable, codes, framed)
        given = {clauses[number]: core for number, core in cores.items()}
        searches += Frames(program, window, bindable, sides, lo, hi, given).terms()
        tallies = partial(self._tallied, window, bindable, codes, sides, lo, hi)
        return Search(self.form, window, searches, filters | undecided, tallies)

    def _tallied(
        self, window: Window, bindable: Bindable, codes: Codes, sides: Sides, lo: int, hi: int
    ) -> dict[Clause, list[Tallied]]:
        """Return, by clause whose matches can be counted by dynamic programming, its terms."""
        terms = [tallied_term(term) for term in self.terms if is_tallied(self.form, term.clause, codes)]
        if self.by_first or not terms:
            return {}
        program, _ = self._compiled(bindable, codes, tuple(terms))
        frames = Frames(program, window, bindable, sides, lo, hi)
        found: dict[Clause, list[Tallied]] = {}
        for number, term in program.terms:
            found.setdefault(term.clause, []).append(Tallied(frames, number, term))
        return found

    def _terms(self, events: Joined, joined: Set[int], cores: Set[int]) -> list[Term]:
        """Return the terms of clauses that are not joined by a plan; those around cores have their events given."""
        found = []
        for number, term in zip(self._clauses, self._orders(events), strict=True):
            if number not in joined and not (number in cores and term.clause.elements[term.order[0]].single):
                found.append(term)
        found += [term for number in cores for term in terms_around(self.form.clauses[number])]
        return [replace(term, in_order=self._finds_in_order(term)) for term in found]

    def _finds_in_order(self, term: Term) -> bool:
        """Return whether to find the matches of an event in the order of rows, because LIMIT asks for the first."""
        return self.form.query.limit is not None and not self.by_first and term.clause.is_in_order(term.order)

    def _join(self, term: Term, events: Joined, lo: int, hi: int) -> JoinSearch:
        if term not in self._programs:
            levels = tuple((element,) for element in term.order)
            self._programs[term] = join_program(self.form, term.clause, levels, self.span, self._shown(term.clause))
        program = self._programs[term]
        names = (term.clause.variables[element] for element in term.order)
        sources = [events.source(self.form, name) for name in names]
        return JoinSearch(program, self.form, sources, events.arena, lo, hi)

    def _shown(self, clause: Clause) -> list[int]:
        """Return the elements of a clause in the order of the query's columns."""
        places = {name: number for number, name in enumerate(clause.variables)}
        return [places[name] for name in self.form.columns if name in places]

    def _codes(self, events: Bindable) -> tuple[dict[Condition, Code], Sides]:
        sides = Sides()
        codes: dict[Condition, Code] = {}
        for condition, pair in zip(self.conditions, self._pairs, strict=True):
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
            late = condition.whole or self.form.query.semantics != "next"
            if late and condition.variables <= set(self.form.columns):
                return None
            message = f"{condition.expression} has to be decided while events are searched, and is no sum of numbers"
            hint = "compare numbers whose sums and products fit 64 bits"
            place, name = condition.expression.place, self.form.query.name
            raise WorkloadError([Problem(f"{message} that fit 64 bits", hint, place, name)]) from None
        return tuple(formula.code)

    def _orders(self, events: Joined) -> tuple[Term, ...]:
        """Return the terms, each in the order that is cheapest for the events that there are."""
        if all(len(term.order) < 3 for term in self.terms):
            return self.terms
        seen = seen_of(self.form, self._choices, self.span, events)
        if self._seen is None or not self._seen.is_like(seen):
            limit = self.form.query.limit
            self._seen, self._ordered = seen, tuple(ordered(term, seen, limit) for term in self.terms)
        return self._ordered

    def _program(
        self, events: Bindable, codes: Codes, terms: tuple[Term, ...]
    ) -> tuple[FrameProgram, frozenset[Condition]]:
        signature = (tuple(codes.items()), terms)
        if self._framed is None or self._framed[0] != signature:
            self._framed = (signature, *self._compiled(events, codes, terms))
        return self._framed[1:]

    def _compiled(
        self, events: Bindable, codes: Codes, terms: tuple[Term, ...]
    ) -> tuple[FrameProgram, frozenset[Condition]]:
        assembly = Assembly(self.form, events.leaf_of, codes, self.span)
        numbers = [assembly.main(term) for term in terms]
        filters = frozenset(one for one in self.conditions if one not in codes)
        numbered = tuple(zip(numbers, terms, strict=True))
        program = FrameProgram(self.form, self.span, self.by_first, assembly.program(), numbered, tuple(assembly.names))
        return program, filters


def core_of(clause: Clause) -> Clause:
    """Return the single events of a clause, and what holds between them."""
    return projected(clause, {name for element in clause.elements if element.single for name in element.variables})


def _core(searches: Sequence[JoinedSearch]) -> Core | None:
    """Return what searches for the single events of a clause find; None if that is too much."""
    tables = [table_of(one, MOST_NUMBERS) for one in searches]
    found = [table for table in tables if table is not None]
    return Core(searches[0].names, np.concatenate(found)) if len(found) == len(tables) else None
