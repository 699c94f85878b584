"""A plain engine that keeps partial matches as objects: what detection is measured against.

It is what one would write by hand for sequences of single events under skip-till-any-match: an automaton with a list of
partial matches by state; each event extends every partial match that waits for its type, and each predicate, compiled
to a Python function, is decided as soon as all of its events are bound.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elsinore.planner.language.syntax import (
    Arithmetic,
    Attribute,
    Comparison,
    EventType,
    Expression,
    LiteralValue,
    Query,
    Seq,
    nodes,
)

Bound = Mapping[str, "Event"]
Read = Callable[[Bound], Any]

CALCULATE = {"+": operator.add, "-": operator.sub, "*": operator.mul}
COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Event:
    type: str
    time: int
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Partial:
    first: int
    last: int
    bound: Bound


def compiled(expression: Expression) -> Read:
    """Return a function that computes an expression for bound events; null makes a comparison false."""
    match expression:
        case LiteralValue():
            value = expression.value
            return lambda _: value
        case Attribute():
            variable, name = expression.variable, expression.name
            return lambda bound: bound[variable].attributes.get(name)
        case Arithmetic():
            return _of_two(CALCULATE[expression.operator], None, expression.left, expression.right)
        case Comparison():
            return _of_two(COMPARE[expression.operator], False, expression.left, expression.right)
    raise NotImplementedError(str(expression))


def _of_two(function: Callable[[Any, Any], Any], null: Any, left: Expression, right: Expression) -> Read:
    one, other = compiled(left), compiled(right)

    def read(bound: Bound) -> Any:
        a, b = one(bound), other(bound)
        return null if a is None or b is None else function(a, b)

    return read


class PartialMatches:
    """The evaluation of one query over one partition; its pattern is a sequence of single events."""

    def __init__(self, query: Query, within: int) -> None:
        self.within = within
        assert isinstance(query.pattern, Seq)
        leaves = [part for part in query.pattern.parts if isinstance(part, EventType)]
        self.variables = [leaf.variable or leaf.name for leaf in leaves]
        self.places = {leaf.name: place for place, leaf in enumerate(leaves)}
        self.checks: list[list[Read]] = [[] for _ in leaves]
        for predicate in query.predicates:
            read = {node.variable for node in nodes(predicate) if isinstance(node, Attribute)}
            self.checks[max(self.variables.index(name) for name in read)].append(compiled(predicate))
        self.waiting: list[deque[Partial]] = [deque() for _ in leaves]
        """By place, the partial matches that wait for an event there."""

    def process(self, event: Event) -> Iterator[Partial]:
        """Take in an event; yield the matches that it completes."""
        place = self.places.get(event.type)
        if place is None:
            return
        variable, checks = self.variables[place], self.checks[place]
        if place == 0:
            bound = {variable: event}
            if all(check(bound) for check in checks):
                self.waiting[1].append(Partial(event.time, event.time, bound))
            return
        waiting = self.waiting[place]
        while waiting and waiting[0].first <= event.time - self.within:
            waiting.popleft()
        for partial in waiting:
            if partial.last < event.time < partial.first + self.within:
                bound = {**partial.bound, variable: event}
                if all(check(bound) for check in checks):
                    longer = Partial(partial.first, event.time, bound)
                    if place + 1 == len(self.waiting):
                        yield longer
                    else:
                        self.waiting[place + 1].append(longer)
