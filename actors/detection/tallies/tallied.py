"""Terms whose matches are counted by dynamic programming, also with restrictions on what they bind."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.frames import search_numba_fns as search
from elsinore.actors.detection.frames.frame_search import Frames
from elsinore.actors.detection.frames.terms import Codes, PairCode, Term, chain_of
from elsinore.actors.detection.tallies import tally_numba_fns as kernel
from elsinore.actors.detection.tallies.residues import moduli, whole
from elsinore.actors.detection.term_search import Ints
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm

NO_ROW, LAST_ROW = -2, 2**31 - 1
"""A row before that of an absent event, and one after all rows."""


@dataclass(frozen=True)
class Restriction:
    """What the matches bind that are counted. Without a restriction a variable binds any event, or none."""

    begin: int = 0
    """The first row that is bound to any variable."""
    lowest: Mapping[str, int] = field(default_factory=dict)
    """The row up to which a variable binds its forced rows alone."""
    highest: Mapping[str, int] = field(default_factory=dict)
    """The last row that a variable may bind."""
    forced: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Rows that a list binds, in ascending order."""

    @property
    def is_empty(self) -> bool:
        """Return whether a row that has to be bound may not."""
        return any(rows[0] < self.begin for rows in self.forced.values())

    def allows_absent(self, variable: str) -> bool:
        """Return whether a variable may bind no event."""
        is_bound = variable in self.highest and self.lowest.get(variable, NO_ROW) > NO_ROW
        return not is_bound and not self.forced.get(variable)


NO_RESTRICTION = Restriction()


class Tallied:
    """A term whose single events are bound first, and whose lists are counted."""

    def __init__(self, frames: Frames, number: int, term: Term) -> None:
        self.frames = frames
        self.number = number
        self.clause: Clause = term.clause
        self.entries = frames.entries
        program = frames.compiled.program
        self._first = int(program.terms[number, search.FIRST])
        self._singles, self._chains = _chains(term, self._first)
        own = self.entries.triggers[slice(*self.entries.triggers_at[number])]
        self.rows: Ints = self.entries.row[own].astype(np.int64)
        self._longest = self._windows()
        self._primes = moduli(self._bits())

    def between(self, lo: int, hi: int) -> Tallied:
        """Return the same for the matches whose last events are rows from `lo` to `hi`."""
        return self.among(np.flatnonzero((self.rows >= lo) & (self.rows < hi)))

    def among(self, triggers: Ints) -> Tallied:
        """Return the same for some triggers, by their numbers."""
        first = int(self.entries.triggers_at[self.number, 0])
        bounds = self.entries.triggers_at.copy()
        bounds[self.number] = 0, len(triggers)
        other = copy(self)
        other.rows = self.rows[triggers]
        other.entries = self.entries._replace(
            triggers=self.entries.triggers[first + triggers],
            labels=self.entries.labels[first + triggers],
            triggers_at=bounds,
        )
        return other

    def counts(self) -> npt.NDArray[Any]:
        """Return the number of matches by trigger; as Python's integers where they might not fit 64 bits."""
        return self._counted(NO_RESTRICTION)

    def count(self, restriction: Restriction) -> int:
        """Return the number of matches that bind what a restriction allows."""
        bound = set(self.clause.variables)
        if restriction.is_empty or not len(self.rows):
            return 0
        if not all(restriction.allows_absent(name) for name in self.frames.form.columns if name not in bound):
            return 0
        return int(self._counted(restriction).sum())

    def _counted(self, restriction: Restriction) -> npt.NDArray[Any]:
        tally, stack = self._tally(restriction), self.frames.stack()
        residues = []
        for prime in self._primes:
            found = np.zeros(len(self.rows), np.int64)
            kernel.tally(self.frames.compiled.program, self.entries, stack, tally, self.number, prime, found)
            residues.append(found)
        return whole(residues, self._primes)

    def _tally(self, restriction: Restriction) -> kernel.Tally:
        names = self.frames.compiled.names
        forced = [restriction.forced.get(name, ()) for name in names]
        candidates = max(self._longest, default=0) + 1
        states = int(self._chains[:, kernel.STATES].max(initial=1))
        return kernel.Tally(
            self._singles,
            self._chains,
            restriction.begin,
            np.array([restriction.lowest.get(name, NO_ROW) for name in names], np.int64),
            np.array([restriction.highest.get(name, LAST_ROW) for name in names], np.int64),
            np.array([row for rows in forced for row in rows], np.int64),
            np.cumsum([0, *map(len, forced)]),
            np.zeros(candidates, np.int64),
            np.zeros(candidates, np.int64),
            np.zeros((candidates, states), np.int64),
            np.zeros(states, np.int64),
            np.zeros((2, candidates), np.int64),
            np.zeros((2, candidates), np.int64),
            np.zeros((len(names), 2), np.int64),
        )

    def _windows(self) -> list[int]:
        """Return, by list, the most events in a window that it may bind."""
        return [
            sum(self.frames.in_window(name) for name in self.frames.names_of(level))
            for level in self._chains[:, kernel.OF_LEVEL]
        ]

    def _bits(self) -> int:
        """Return a bound of the bits that the number of matches of one trigger has."""
        singles = [name for one in range(self._singles) for name in self.frames.names_of(self._first + one)]
        return sum(self._longest) + sum(int(log2(self.frames.in_window(name) + 1)) + 1 for name in singles)


def tallied_term(term: Term) -> Term:
    """Return a term with its single events before its lists, each list behind the one that follows it in time."""
    elements, top = term.clause.elements, term.order[0]
    others = [element for element in term.order[1:] if elements[element].single]
    return Term(term.clause, (top, *others, *(one for path in _paths(term) for one in path if one != top)))


def _chains(term: Term, first: int) -> tuple[int, npt.NDArray[np.int32]]:
    """Return how many levels of a term are bound before its lists are counted, and the lists as the kernel has them."""
    elements = term.clause.elements
    level_of = {element: first + place for place, element in enumerate(term.order)}
    found = []
    for path in _paths(term):
        for place, element in enumerate(path):
            states = len(chain_of(elements[element].pattern, (), True).steps)
            found.append((level_of[element], states, place > 0, place + 1 == len(path)))
    singles = sum(one.single for one in elements)
    # The last event of a match is bound as single events are.
    bound = singles if elements[term.order[0]].single else singles + 1
    return bound, np.array(found, np.int32).reshape(-1, kernel.CHAIN_WIDTH)


def _paths(term: Term) -> list[list[int]]:
    """Return the lists that follow one another with no single event between them, from the last to the first."""
    after = _successors(term.clause)
    begun = [one for one in after if not after[one]]
    found = []
    for one in begun:
        path = [one]
        while before := [other for other in after if path[-1] in after[other]]:
            path += before
        found.append(path)
    return found


def _successors(clause: Clause) -> dict[int, list[int]]:
    """Return, by list, the lists that come next, if no single event lies between."""
    elements, order = clause.elements, clause.order

    def between(a: int, b: int) -> bool:
        return any((a, one) in order and (one, b) in order for one in range(len(elements)))

    chains = [number for number, element in enumerate(elements) if not element.single]
    return {a: [b for b in chains if (a, b) in order and not between(a, b)] for a in chains}


def is_tallied(form: NormalForm, clause: Clause, codes: Codes) -> bool:
    """Return whether the lists of a clause can be counted, given its single events."""
    return (
        form.query.semantics == "any"
        and _is_in_paths(form, clause)
        and _is_free_of_guards(form, clause)
        and all(_is_about_one(clause, condition, codes) for condition in clause.conditions)
    )


def _is_in_paths(form: NormalForm, clause: Clause) -> bool:
    """Return whether lists follow one another one by one, and lists in no order share no event type."""
    after = _successors(clause)
    followers = [other for others in after.values() for other in others]
    if any(len(others) > 1 for others in after.values()) or len(set(followers)) < len(followers):
        return False
    types = [{form.types[name] for name in element.variables} for element in clause.elements]
    # The events of the list with the last event are not known when single events are bound.
    beside = [*after, *(one for one in range(len(types)) if clause.elements[one].single)]
    return all(
        a == b or (a, b) in clause.order or (b, a) in clause.order or types[a].isdisjoint(types[b])
        for a in after
        for b in (beside if a in clause.lasts else after)
    )


def _is_free_of_guards(form: NormalForm, clause: Clause) -> bool:
    """Return whether NOT stands between single events alone, and is about no list."""
    elements = clause.elements
    listed = {name for one in elements if not one.single for name in one.variables}
    guards = tuple(guard.pattern for guard in form.guards)
    return not any(chain_of(one.pattern, guards, True).guards for one in elements) and all(
        gap.after
        and gap.before
        and all(elements[one].single for one in (*gap.after, *gap.before))
        and all(form.guards[guard].outer.isdisjoint(listed) for way in gap.ways for guard in way)
        for gap in clause.gaps
    )


def _is_about_one(clause: Clause, condition: Condition, codes: Codes) -> bool:
    """Return whether a condition is about no more than one event of lists, or two of them that follow one another."""
    if condition.whole or condition not in codes:
        return False
    if condition.successive:
        return isinstance(codes[condition], PairCode)
    listed = [name for one in clause.elements if not one.single for name in one.variables]
    return len(condition.variables.intersection(listed)) <= 1
