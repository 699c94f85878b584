"""The order in which the elements of a clause are searched, by rates and selectivities that were seen.

This is the plan of one clause by itself. The order of every term begins with the element that has the last (or first)
event; among the others dynamic programming over sets finds the cheapest order (Kolchinsky and Schuster, Section 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import factorial, prod

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.conditions import OPERATORS, Pair, pair_of
from elsinore.actors.detection.frames.terms import Term
from elsinore.actors.detection.joins.sources import Joined
from elsinore.planner.detection.normal_form import Clause, NormalForm

SAMPLE = 256
"""Number of pairs of events of which a selectivity is taken."""

TESTED = 0.5
"""Selectivity assumed of a condition that is no comparison of two events."""

MOST_ELEMENTS = 10
"""Number of elements up to which all orders are compared; longer clauses are searched in the order of the text."""

LONGEST = 20
"""Number of events in a window of which no more subsets are counted: a list is searched last in any case."""

DRIFT = 2.0
"""Factor by which a rate or a selectivity has to change before other orders are looked at."""

SORTING = 10.0
"""Cost of sorting a match that was not found in the order of rows, in candidates looked at."""


@dataclass(frozen=True)
class Seen:
    """What was seen of the events of a query."""

    rates: Mapping[str, float]
    """By variable, how many of its events there are in a window."""
    selectivities: Mapping[frozenset[str], float]
    """By variables, how many choices of their events satisfy all conditions on them."""

    def is_like(self, other: Seen) -> bool:
        """Return whether nothing differs by more than a factor of `DRIFT`."""
        pairs = [(self.rates[name] + 1, rate + 1) for name, rate in other.rates.items()]
        pairs += ((self.selectivities[names], share) for names, share in other.selectivities.items())
        return all(one < DRIFT * two and two < DRIFT * one for one, two in pairs)


def selectivity(operator: int, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> float:
    """Return how many pairs of keys satisfy a comparison, in a sample that depends on nothing else."""
    if not len(left) or not len(right):
        return 1.0
    draw = np.random.default_rng(0)
    a, b = (keys[draw.integers(0, len(keys), SAMPLE)] for keys in (left, right))
    return (float(np.count_nonzero(holds(operator, a, b))) + 0.5) / (SAMPLE + 1)


def holds(operator: int, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which pairs of keys satisfy a comparison by <, <=, = or !=."""
    if operator == OPERATORS["<"]:
        return left < right
    if operator == OPERATORS["<="]:
        return left <= right
    return left == right if operator == OPERATORS["="] else left != right


Choices = Sequence[tuple[frozenset[str], Pair | None]]
"""The variables of conditions on choices of events, and the comparison that a condition is, if it is one."""


def choices_of(form: NormalForm) -> Choices:
    """Return the conditions on choices of events, each once."""
    conditions = dict.fromkeys(one for clause in form.clauses for one in clause.conditions)
    wanted = [one for one in conditions if not one.successive and not one.whole]
    return [(one.variables, pair_of(one.expression)) for one in wanted]


def seen_of(form: NormalForm, choices: Choices, span: int, events: Joined) -> Seen:
    """Return the rates and selectivities of a query in the events that there are."""
    at, order = events.clocked.at, events.clocked.order
    windows = max(1.0, float(at[order[-1]] - at[order[0]]) / span) if len(order) else 1.0
    rates = {name: events.source(form, name).count / windows for name in form.types}
    found: dict[frozenset[str], float] = {}
    for variables, pair in choices:
        share = TESTED
        if pair is not None:
            _, left = events.keys(form, pair, True)
            _, right = events.keys(form, pair, False)
            share = selectivity(pair.operator, left, right)
        found[variables] = found.get(variables, 1.0) * share
    return Seen(rates, found)


def ordered(term: Term, seen: Seen, limit: int | None) -> Term:
    """Return a term with the cheapest order of its elements; `limit`: the matches of each last event that are taken."""
    clause = term.clause
    if not 2 < len(clause.elements) <= MOST_ELEMENTS or any(one.semantics != "any" for one in clause.elements):
        return term
    orders = _Orders(clause, term.order, seen)
    # In the order of the text, the search of a trigger ends with its first matches.
    is_cut = limit is not None and clause.is_in_order(term.order) and limit < orders.expected
    return term if is_cut else replace(term, order=orders.best())


@dataclass(frozen=True)
class _Orders:
    clause: Clause
    text: tuple[int, ...]
    """The order of the text behind the first element of the term."""
    seen: Seen
    known: dict[frozenset[int], float] = field(default_factory=dict)
    """What is expected of sets of elements, as far as it was asked for."""

    def best(self) -> tuple[int, ...]:
        top = self.text[0]
        begun: dict[frozenset[int], tuple[float, tuple[int, ...]]] = {frozenset({top}): (0.0, (top,))}
        for _ in self.text[1:]:
            longer: dict[frozenset[int], tuple[float, tuple[int, ...]]] = {}
            for bound, (cost, order) in begun.items():
                for element in self.text:
                    if element not in bound:
                        after = bound | {element}
                        found = cost + self._step(bound, element), (*order, element)
                        if after not in longer or found[0] < longer[after][0] * (1 - 1e-9):
                            longer[after] = found
            begun = longer
        cost, order = begun[frozenset(self.text)]
        return order if cost + SORTING * self._expected(frozenset(self.text)) < self._cost(self.text) else self.text

    @property
    def expected(self) -> float:
        """Return the number of matches that are expected for each event of the first element."""
        return self._expected(frozenset(self.text))

    def _cost(self, order: tuple[int, ...]) -> float:
        return sum(self._step(frozenset(order[:k]), order[k]) for k in range(1, len(order)))

    def _step(self, bound: frozenset[int], element: int) -> float:
        """Return the candidates that are looked at for one more element, and those that are left."""
        both = bound | {element}
        left = self._expected(both)
        return left + left * self._satisfying(bound) / self._satisfying(both)

    def _expected(self, bound: frozenset[int]) -> float:
        """Return the number of partial matches with these elements, for each event of the first of the order."""
        if bound not in self.known:
            self.known[bound] = self._size(bound) * self._orderly(bound) * self._satisfying(bound)
        return self.known[bound]

    def _size(self, bound: frozenset[int]) -> float:
        return prod(self._sizes[element] for element in bound if element != self.text[0])

    @cached_property
    def _names(self) -> list[frozenset[str]]:
        return [frozenset(element.variables) for element in self.clause.elements]

    @cached_property
    def _sizes(self) -> list[float]:
        rates = [sum(self.seen.rates[name] for name in names) for names in self._names]
        singles = [element.single for element in self.clause.elements]
        return [rate if single else 2.0 ** min(rate, LONGEST) for rate, single in zip(rates, singles, strict=True)]

    def _satisfying(self, bound: frozenset[int]) -> float:
        names = frozenset[str]().union(*(self._names[element] for element in bound))
        return prod(value for among, value in self.seen.selectivities.items() if among <= names)

    def _orderly(self, bound: frozenset[int]) -> float:
        """Return how many orders in time of these elements the clause allows, of all with the first one at its end."""
        others = bound - {self.text[0]}
        return _extensions(others, self.clause.order) / factorial(len(others))


@cache
def _extensions(elements: frozenset[int], order: frozenset[tuple[int, int]]) -> int:
    """Return the number of linear orders of some elements that a partial order allows."""
    lasts = [one for one in elements if all((one, other) not in order for other in elements)]
    return sum(_extensions(elements - {last}, order) for last in lasts) if elements else 1
