"""Check numbers, texts and truth values in predicates, as far as that is possible without events."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf
from typing import Literal

from elsinore.planner.language.errors import Problem
from elsinore.planner.language.syntax import (
    All,
    Any,
    Arithmetic,
    Attribute,
    Between,
    Comparison,
    Expression,
    In,
    LiteralValue,
    Minus,
    Negation,
    Node,
    Query,
    Summary,
    nodes,
)

Kind = Literal["number", "text", "truth value"]


def predicates_are_conditions(query: Query) -> Iterator[Problem]:
    """Check that each predicate is a condition: `WHERE A.v + 1` has none."""
    for predicate in query.predicates:
        if kind(predicate) in ("number", "text"):
            message = f"this is a {kind(predicate)}, not a condition"
            yield Problem(message, "compare it with something, such as X.speed < 10", predicate.place)


def kinds_agree(query: Query) -> Iterator[Problem]:
    """Check that numbers are not compared with texts, and that arithmetic has no other operands than numbers."""
    for predicate in query.predicates:
        for node in nodes(predicate):
            yield from _disagreements(node)


def numbers_fit(query: Query) -> Iterator[Problem]:
    """Check that each number fits 64 bits: a larger one would be rounded or wrapped when it meets a column."""
    for predicate in query.predicates:
        for node in nodes(predicate):
            if isinstance(node, LiteralValue) and not _fits(node.value):
                hint = "integers go from -2^63 to 2^63 - 1, others up to 1.7e308"
                yield Problem("this number does not fit 64 bits", hint, node.place)


def kind(expression: Expression) -> Kind | None:
    """Return the kind of an expression; None for an attribute, whose kind only the events tell.

    The same goes for FIRST, LAST, MIN and MAX of an attribute.
    """
    match expression:
        case LiteralValue():
            if isinstance(expression.value, bool):
                return "truth value"
            return "text" if isinstance(expression.value, str) else "number"
        case Attribute():
            return None
        case Summary():
            return "number" if expression.function in ("COUNT", "SUM", "AVG") else None
        case Arithmetic() | Minus():
            return "number"
        case _:
            return "truth value"


def _fits(value: int | float | str | bool) -> bool:
    if isinstance(value, float):
        return not isinf(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _disagreements(node: Node) -> Iterator[Problem]:
    match node:
        case Arithmetic() | Minus():
            operands = (node.left, node.right) if isinstance(node, Arithmetic) else (node.part,)
            for operand in operands:
                if kind(operand) not in ("number", None):
                    hint = "calculate with numbers and attributes that are numbers"
                    yield Problem(f"arithmetic with a {kind(operand)}", hint, operand.place)
        case Comparison():
            yield from _alike((node.left, node.right))
        case In():
            yield from _alike((node.part, *node.values))
        case Between():
            yield from _alike((node.part, node.low, node.high))
        case All() | Any() | Negation():
            for part in (node.part,) if isinstance(node, Negation) else node.parts:
                if kind(part) in ("number", "text"):
                    hint = "AND, OR and NOT join conditions, such as X.speed < 10"
                    yield Problem(f"this is a {kind(part)}, not a condition", hint, part.place)


def _alike(expressions: tuple[Expression, ...]) -> Iterator[Problem]:
    """Yield a problem for the first expression whose kind is known and differs from that of one before it."""
    known = [expression for expression in expressions if kind(expression)]
    for expression in known[1:]:
        if kind(expression) != kind(known[0]):
            hint = "compare things of one kind; a text stands in quotation marks, a number does not"
            message = f"a {kind(known[0])} is compared with a {kind(expression)}"
            yield Problem(message, hint, expression.place)
            return
