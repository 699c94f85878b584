"""Classify predicates (COGRA, Section 3.2): on single events, and on neighbours.

Equivalences partition the stream and are in `Query.partition`; the other predicates are classified here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from elsinore.planner.language.syntax import Attribute, Comparison, ComparisonOperator, Expression, Query, nodes
from elsinore.planner.language.walk import map_attributes
from elsinore.planner.machines.automaton import follows

MIRRORED: dict[ComparisonOperator, ComparisonOperator] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}


@dataclass(frozen=True)
class Link:
    """A predicate on two neighbours: `left` is read from the earlier event, `right` from the later one."""

    before: str
    after: str
    operator: ComparisonOperator
    left: Expression
    right: Expression

    def __str__(self) -> str:
        right = str(self.right)
        if self.before == self.after:
            right = right.replace(f"{self.after}.", f"NEXT({self.after}).")
        return f"{self.left} {self.operator} {right}"


@dataclass(frozen=True)
class Predicates:
    local: dict[str, tuple[Expression, ...]]
    links: tuple[Link, ...]

    def between(self, before: str | None, after: str | None) -> tuple[int, ...]:
        """Return the numbers of the links that an event of `after` directly behind one of `before` must satisfy."""
        return tuple(i for i, link in enumerate(self.links) if (link.before, link.after) == (before, after))


def classify(query: Query) -> Predicates:
    """Classify the predicates of a checked query."""
    local: dict[str, tuple[Expression, ...]] = {}
    links = []
    neighbours = cache(lambda: follows(query.pattern))
    for predicate in query.predicates:
        used = list(attributes(predicate))
        names = {(attribute.variable, attribute.next) for attribute in used}
        if len(names) == 1 and not used[0].next:
            local[used[0].variable] = (*local.get(used[0].variable, ()), predicate)
        else:
            links.append(_link(cast(Comparison, predicate), neighbours))
    return Predicates(local, tuple(links))


def attributes(expression: Expression) -> Iterator[Attribute]:
    """Yield every attribute that an expression reads."""
    return (node for node in nodes(expression) if isinstance(node, Attribute))


def anonymous(expression: Expression) -> str:
    """Return the text of an expression over one event, independent of the name of the event's variable."""
    return str(map_attributes(expression, lambda attribute: replace(attribute, variable="event")))


def _link(predicate: Comparison, neighbours: Callable[[], set[tuple[str, str]]]) -> Link:
    """Return the link of a predicate on neighbours, with the side of the earlier event on the left.

    NEXT marks the later event. Without NEXT, the order follows from which variable can follow which in the pattern.
    """
    left, right = _reader(predicate.left), _reader(predicate.right)
    names = left.variable, right.variable
    backwards = left.next or (names[0] != names[1] and names not in neighbours())
    if backwards:
        return Link(
            right.variable, left.variable, MIRRORED[predicate.operator], predicate.right, _plain(predicate.left)
        )
    return Link(left.variable, right.variable, predicate.operator, predicate.left, _plain(predicate.right))


def _reader(side: Expression) -> Attribute:
    return next(attributes(side))


def _plain(expression: Expression) -> Expression:
    """Remove NEXT from an expression: the side of the link says which event is meant."""
    return map_attributes(expression, lambda attribute: replace(attribute, next=False))
