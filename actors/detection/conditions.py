"""Conditions between events as what the search reads: comparisons of two sides, tests, and filters of whole matches."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.actors.detection import comparing_numba_fns as kernel
from elsinore.planner.language.syntax import (
    Attribute,
    Comparison,
    ComparisonOperator,
    Expression,
    nodes,
)

OPERATORS = {
    "<": kernel.LESS,
    "<=": kernel.AT_MOST,
    "=": kernel.EQUAL,
    "!=": kernel.NOT_EQUAL,
    ">": kernel.GREATER,
    ">=": kernel.AT_LEAST,
}
SWAPPED = {
    kernel.LESS: kernel.GREATER,
    kernel.AT_MOST: kernel.AT_LEAST,
    kernel.EQUAL: kernel.EQUAL,
    kernel.NOT_EQUAL: kernel.NOT_EQUAL_BACK,
}
TURNED: dict[ComparisonOperator, ComparisonOperator] = {">": "<", ">=": "<="}


@dataclass(frozen=True)
class Reader:
    """An event that an expression reads: one that is bound to a variable, or the next of the chain."""

    variable: str
    next: bool = False


@dataclass(frozen=True)
class Pair:
    """A comparison of two events by <, <=, = or !=; each side is an expression over one event."""

    operator: int
    left: Reader
    left_side: Expression
    right: Reader
    right_side: Expression
    text: Comparison


def readers(expression: Expression) -> frozenset[Reader]:
    """Return the events that an expression reads."""
    return frozenset(Reader(one.variable, one.next) for one in nodes(expression) if isinstance(one, Attribute))


def pair_of(expression: Expression) -> Pair | None:
    """Return a condition as a comparison of two events, if it is one."""
    if not isinstance(expression, Comparison):
        return None
    left, right = readers(expression.left), readers(expression.right)
    if len(left) != 1 or len(right) != 1 or left == right:
        return None
    (one,), (other,) = left, right
    operator, sides = expression.operator, ((one, expression.left), (other, expression.right))
    if operator in TURNED:
        operator, sides = TURNED[operator], (sides[1], sides[0])
    (one, one_side), (other, other_side) = sides
    return Pair(OPERATORS[operator], one, one_side, other, other_side, expression)
