"""Predicates: their text, and their value. Null is None."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Literal:
    value: int | Fraction | str

    def __str__(self) -> str:
        return f"'{self.value}'" if isinstance(self.value, str) else decimal(Fraction(self.value))


@dataclass(frozen=True)
class Attribute:
    """An attribute `X.a` or `NEXT(X).a`."""

    variable: str
    name: str
    next: bool = False

    def __str__(self) -> str:
        return f"NEXT({self.variable}).{self.name}" if self.next else f"{self.variable}.{self.name}"


@dataclass(frozen=True)
class Of:
    """A value of all events bound to a variable: `FIRST(X).a`, `LAST(X).a`, `COUNT(X)`, `SUM(X.a)`."""

    function: str
    variable: str
    attribute: str | None = None

    def __str__(self) -> str:
        if self.function in ("FIRST", "LAST"):
            return f"{self.function}({self.variable}).{self.attribute}"
        return f"{self.function}({self.variable if self.attribute is None else f'{self.variable}.{self.attribute}'})"


@dataclass(frozen=True)
class Binary:
    """Arithmetic, a comparison, AND or OR."""

    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({self.left} {self.operator} {self.right})"


@dataclass(frozen=True)
class In:
    part: Expression
    values: tuple[Literal, ...]

    def __str__(self) -> str:
        return f"{self.part} IN ({', '.join(map(str, self.values))})"


@dataclass(frozen=True)
class Between:
    part: Expression
    low: Expression
    high: Expression

    def __str__(self) -> str:
        return f"({self.part} BETWEEN {self.low} AND {self.high})"


@dataclass(frozen=True)
class IsNull:
    part: Expression
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.part} IS {'NOT ' if self.negated else ''}NULL"


@dataclass(frozen=True)
class Negation:
    part: Expression

    def __str__(self) -> str:
        return f"NOT ({self.part})"


Expression = Literal | Attribute | Of | Binary | In | Between | IsNull | Negation


def readers(expression: Expression) -> Iterator[Attribute | Of]:
    """Yield the parts of an expression that read events, from left to right."""
    match expression:
        case Attribute() | Of():
            yield expression
        case Binary(_, left, right):
            yield from readers(left)
            yield from readers(right)
        case In(part) | IsNull(part) | Negation(part):
            yield from readers(part)
        case Between(part, low, high):
            for operand in (part, low, high):
                yield from readers(operand)
        case Literal():
            pass


def attributes(expression: Expression) -> Iterator[Attribute]:
    """Yield the attributes that an expression reads, from left to right."""
    return (reader for reader in readers(expression) if isinstance(reader, Attribute))


def conjunct(expression: Expression) -> str:
    """Return the text of an expression without the brackets that it needs only inside another one."""
    text = str(expression)
    return text[1:-1] if isinstance(expression, Binary) and expression.operator != "OR" else text


def decimal(value: Fraction) -> str:
    """Return a fraction with finitely many decimals as a literal."""
    return str(value.numerator) if value.denominator == 1 else str(float(value))


# Evaluation

Event = Mapping[str, Any]

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: Fraction(left) / Fraction(right),
    "%": operator.mod,
}
COMPARISON: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(expression: Expression, read: Callable[[Attribute | Of], Any]) -> Any:
    """Return the value of an expression; `read` gives that of each part that reads events."""

    def value(part: Expression) -> Any:
        match part:
            case Literal(literal):
                return literal
            case Attribute() | Of():
                return read(part)
            case Binary("AND", left, right):
                return value(left) and value(right)
            case Binary("OR", left, right):
                return value(left) or value(right)
            case Binary(symbol, left, right):
                return binary(symbol, value(left), value(right))
            case In(part, literals):
                return any(binary("=", value(part), literal.value) for literal in literals)
            case Between(part, low, high):
                return binary(">=", value(part), value(low)) and binary("<=", value(part), value(high))
            case IsNull(part, negated):
                return (value(part) is None) != negated
            case Negation(part):
                return not value(part)

    return value(expression)


def holds(expression: Expression, this: Event, following: Callable[[Attribute], bool], other: Event) -> Any:
    """Return the value of an expression; `following` tells which attributes are those of the `other` event."""

    def read(part: Attribute | Of) -> Any:
        assert isinstance(part, Attribute), "aggregation queries compare single events"
        return (other if following(part) else this).get(part.name)

    return evaluate(expression, read)


def binary(symbol: str, left: Any, right: Any) -> Any:
    """Apply an operator; arithmetic with null is null, and a comparison with null is false."""
    known = left is not None and right is not None
    if symbol in COMPARISON:
        return known and COMPARISON[symbol](left, right)
    return ARITHMETIC[symbol](left, right) if known else None


@dataclass(frozen=True)
class Pair:
    """A predicate on an event bound to `first` and the event bound to `second` that directly follows it."""

    first: str
    second: str
    expression: Expression

    def holds(self, event: Event, successor: Event) -> bool:
        def following(attribute: Attribute) -> bool:
            return attribute.next if self.first == self.second else attribute.variable == self.second

        return bool(holds(self.expression, event, following, successor))


@dataclass(frozen=True)
class Predicates:
    single: dict[str, list[Expression]]
    pairs: list[Pair]

    def admits(self, variable: str, event: Event) -> bool:
        return all(holds(each, event, lambda _: False, event) for each in self.single.get(variable, []))

    def joins(self, variable: str, event: Event, next_variable: str, successor: Event) -> bool:
        asked = (pair for pair in self.pairs if (pair.first, pair.second) == (variable, next_variable))
        return all(pair.holds(event, successor) for pair in asked)


def predicates(conjuncts: Iterable[Expression]) -> Predicates:
    single: dict[str, list[Expression]] = {}
    pairs = []
    for expression in conjuncts:
        used = list(attributes(expression))
        variables = list(dict.fromkeys(attribute.variable for attribute in used))
        if len(variables) == 1 and not any(attribute.next for attribute in used):
            single.setdefault(variables[0], []).append(expression)
        else:
            pairs.append(Pair(variables[0], variables[-1], expression))
    return Predicates(single, pairs)
