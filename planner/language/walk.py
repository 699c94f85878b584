"""Functions that traverse patterns and expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import cast

from elsinore.planner.language.syntax import (
    And,
    Attribute,
    EventType,
    Expression,
    Kleene,
    Node,
    Not,
    Or,
    Pattern,
    Seq,
    Summary,
    nodes,
)


def leaves(pattern: Pattern) -> Iterator[EventType]:
    """Yield the event types of a pattern, including those inside NOT."""
    return (node for node in nodes(pattern) if isinstance(node, EventType))


def variables(pattern: Pattern) -> frozenset[str]:
    """Return the variables of a resolved pattern."""
    return frozenset(leaf.variable for leaf in leaves(pattern) if leaf.variable)


def negated(pattern: Pattern) -> frozenset[str]:
    """Return the variables of a resolved pattern that stand inside NOT: no event of a trend is bound to them."""
    return frozenset().union(*(variables(node) for node in nodes(pattern) if isinstance(node, Not)))


def bound(pattern: Pattern) -> Iterator[EventType]:
    """Yield the event types outside of NOT, from left to right: events of a match are bound to these."""
    match pattern:
        case EventType():
            yield pattern
        case Kleene():
            yield from bound(pattern.part)
        case Seq() | Or() | And():
            for part in pattern.parts:
                yield from bound(part)


def listed(pattern: Pattern) -> frozenset[str]:
    """Return the variables of a resolved pattern to which a match may bind several events: those under `+`, `{n,m}`."""
    repeated = (node for node in nodes(pattern) if isinstance(node, Kleene) and (node.most is None or node.most > 1))
    return frozenset().union(*map(variables, repeated))


def column(variable: str) -> str:
    """Return the name of the column of a variable in the rows of RETURN MATCHES: its type where `resolve` named it."""
    return variable.partition("#")[0]


def readers(expression: Expression) -> Iterator[Attribute | Summary]:
    """Yield the parts of an expression that name a variable, from left to right."""
    return (node for node in nodes(expression) if isinstance(node, Attribute | Summary))


def occurrences(pattern: Pattern) -> Counter[str]:
    """Count how often each event type stands in a pattern."""
    return Counter(leaf.name for leaf in leaves(pattern))


def map_leaves(pattern: Pattern, change: Callable[[EventType], EventType]) -> Pattern:
    """Return a pattern with its event types changed, from left to right."""
    match pattern:
        case EventType():
            return change(pattern)
        case Kleene() | Not():
            return replace(pattern, part=map_leaves(pattern.part, change))
        case Seq() | Or() | And():
            return replace(pattern, parts=tuple(map_leaves(part, change) for part in pattern.parts))


def plainly_named(pattern: Pattern) -> Pattern:
    """Remove variables that only repeat the name of a type that stands once."""
    counts = occurrences(pattern)

    def plain(leaf: EventType) -> EventType:
        return replace(leaf, variable=None) if leaf.variable == leaf.name and counts[leaf.name] == 1 else leaf

    return map_leaves(pattern, plain)


def map_attributes(expression: Expression, change: Callable[[Attribute], Attribute]) -> Expression:
    """Return an expression with its attributes changed."""
    return map_readers(expression, lambda reader: change(reader) if isinstance(reader, Attribute) else reader)


def map_readers(expression: Expression, change: Callable[[Attribute | Summary], Expression]) -> Expression:
    """Return an expression with the parts changed that name a variable."""
    if isinstance(expression, Attribute | Summary):
        return change(expression)
    changed: dict[str, object] = {}
    for field in fields(expression):
        value = getattr(expression, field.name)
        if isinstance(value, tuple):
            changed[field.name] = tuple(map_readers(part, change) for part in value)
        elif isinstance(value, Node):
            changed[field.name] = map_readers(cast(Expression, value), change)
    return replace(expression, **changed)  # type: ignore[arg-type]
