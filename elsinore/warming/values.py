"""What values the attributes of a workload may have, as far as its text says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from elsinore.planner.language.syntax import (
    All,
    Any,
    Attribute,
    Between,
    Comparison,
    Expression,
    In,
    LiteralValue,
    Negation,
    Node,
    Query,
    Summary,
    Workload,
    nodes,
)

Value = int | float | str | bool

DIFFERENT = 8
"""How many values an attribute has about which a workload says nothing else; few, so that some are equal."""

STEPS = (-1, 0, 1, 2, 3)
"""Values around a number that an attribute is compared with: several above it, which may grow from event to event."""

OTHER = "another text"

SUMS = ("COUNT", "SUM")
"""Functions of which a limit says nothing about single values."""


@dataclass
class Values:
    """What is known of some attributes that are compared with each other, and so have the same kind of value."""

    literals: set[Value] = field(default_factory=set)
    counted: bool = False
    """Whether numbers are made of them: by an aggregate or by arithmetic."""

    def joined(self, other: Values) -> Values:
        return Values(self.literals | other.literals, self.counted or other.counted)

    @property
    def known(self) -> bool:
        return self.counted or bool(self.literals)

    def candidates(self, unit: int) -> tuple[Value, ...]:
        """Return values of one kind, some of which satisfy the conditions; without any, multiples of a unit."""
        texts = sorted(one for one in self.literals if isinstance(one, str))
        numbers = {one for one in self.literals if not isinstance(one, str | bool)}
        if texts and not self.counted:
            return (*texts, OTHER)
        if numbers:
            return tuple(sorted({one + step for one in numbers for step in STEPS}))
        if self.literals and not self.counted:
            return (True, False)
        return tuple(unit * number for number in range(DIFFERENT))


def values_of(workload: Workload) -> dict[str, Values]:
    """Return, by attribute, what the workload says of its values."""
    found = {name: Values() for query in workload.queries for name in query.columns}
    for names, values in (one for query in workload.queries for one in _said(query)):
        together = values
        for known in {id(found[name]): found[name] for name in names}.values():
            together = together.joined(known)
        joined = {id(found[name]) for name in names}
        found = {name: together if id(known) in joined else known for name, known in found.items()}
    return found


def _said(query: Query) -> Iterator[tuple[set[str], Values]]:
    """Yield attributes that have one kind of value, and what a part of the query says of it."""
    for aggregate in query.aggregates:
        if aggregate.attribute:
            yield {aggregate.attribute}, Values(counted=True)
    for one in (*query.predicates, *(item.value for item in query.items)):
        yield from _said_by(one)


def _said_by(expression: Expression) -> Iterator[tuple[set[str], Values]]:
    if isinstance(expression, All | Any):
        for part in expression.parts:
            yield from _said_by(part)
    elif isinstance(expression, Negation):
        yield from _said_by(expression.part)
    else:
        inside = list(nodes(expression))
        names = {name for node in inside if (name := _attribute(node))}
        if names:
            summed = any(isinstance(node, Summary) and node.function in SUMS for node in inside)
            literals = {node.value for node in inside if isinstance(node, LiteralValue) and not summed}
            plain = Comparison | In | Between | Attribute | LiteralValue | Summary
            yield names, Values(literals, counted=not all(isinstance(node, plain) for node in inside))


def _attribute(node: Node) -> str | None:
    return node.name if isinstance(node, Attribute) else node.attribute if isinstance(node, Summary) else None
