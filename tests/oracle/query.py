"""Queries of the judge, and their text in the language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.expressions import Attribute, Expression, Of, conjunct, decimal

# Patterns


@dataclass(frozen=True)
class One:
    """An event of a type. The text omits a variable that equals the type."""

    type: str
    variable: str

    def __str__(self) -> str:
        return self.type if self.variable == self.type else f"{self.type} {self.variable}"


@dataclass(frozen=True)
class Repeat:
    part: Pattern
    least: int
    most: int | None

    def __str__(self) -> str:
        named = {(1, None): "+", (0, None): "*", (0, 1): "?"}
        counted = f"{{{self.least}}}" if self.least == self.most else f"{{{self.least},{self.most or ''}}}"
        suffix = named.get((self.least, self.most), counted)
        return f"{self.part}{suffix}" if isinstance(self.part, One) else f"({self.part}){suffix}"


@dataclass(frozen=True)
class Seq:
    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"SEQ({', '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class Or:
    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class And:
    """A conjunction; in an aggregation query it occurs only at the top of a pattern."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.parts))


@dataclass(frozen=True)
class Absent:
    part: Pattern

    def __str__(self) -> str:
        return f"NOT ({self.part})" if isinstance(self.part, And) else f"NOT {self.part}"


Pattern = One | Repeat | Seq | Or | And | Absent


def leaves(pattern: Pattern) -> Iterator[One]:
    """Yield the leaves of a pattern from left to right, including negated ones."""
    match pattern:
        case One():
            yield pattern
        case Repeat(part) | Absent(part):
            yield from leaves(part)
        case Seq(parts) | Or(parts) | And(parts):
            for part in parts:
                yield from leaves(part)


def negations(pattern: Pattern) -> Iterator[Pattern]:
    """Yield the sub-patterns under NOT."""
    match pattern:
        case Absent(part):
            yield part
        case Repeat(part):
            yield from negations(part)
        case Seq(parts) | Or(parts) | And(parts):
            for part in parts:
                yield from negations(part)
        case One():
            pass


# The query


@dataclass(frozen=True)
class Aggregate:
    """An aggregate; `COUNT(*)` has no variable, and `COUNT(X)` no attribute."""

    function: str
    variable: str | None = None
    attribute: str | None = None
    alias: str | None = None

    @property
    def text(self) -> str:
        over = "*" if self.variable is None else self.variable
        return f"{self.function}({over if self.attribute is None else f'{over}.{self.attribute}'})"

    @property
    def label(self) -> str:
        return self.alias or self.text

    def __str__(self) -> str:
        return self.text if self.alias is None else f"{self.text} AS {self.alias}"


@dataclass(frozen=True)
class Item:
    """An item of RETURN MATCHES."""

    value: Attribute | Of
    alias: str | None = None

    @property
    def label(self) -> str:
        return self.alias or str(self.value)

    def __str__(self) -> str:
        return str(self.value) if self.alias is None else f"{self.value} AS {self.alias}"


@dataclass(frozen=True)
class Query:
    """A query, with windows in seconds or in events; without `slide` the window moves with every event.

    A query without aggregates returns matches.
    """

    name: str
    aggregates: tuple[Aggregate, ...]
    pattern: Pattern
    within: Fraction
    slide: Fraction | None = None
    semantics: str = "skip-till-any-match"
    equivalence: tuple[str, ...] = ()
    predicates: tuple[Expression, ...] = ()
    groups: tuple[str, ...] = ()
    unit: str = "seconds"
    items: tuple[Item, ...] = ()
    limit: int | None = None

    @property
    def detects(self) -> bool:
        return not self.aggregates

    @property
    def partition(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.groups, *self.equivalence)))

    @property
    def operands(self) -> tuple[Pattern, ...]:
        return self.pattern.parts if isinstance(self.pattern, And) else (self.pattern,)

    def __str__(self) -> str:
        equal = [f"[{', '.join(self.equivalence)}]"] if self.equivalence else []
        where = [*equal, *map(conjunct, self.predicates)]
        slide = "" if self.slide is None else f" SLIDE {span(self.slide, self.unit)}"
        matches = f"MATCHES {', '.join(map(str, self.items))}".strip()
        clauses = [
            f"QUERY {self.name}",
            f"RETURN {matches if self.detects else ', '.join([*self.groups, *map(str, self.aggregates)])}",
            f"PATTERN {self.pattern}",
            f"SEMANTICS {self.semantics}",
            f"WHERE {' AND '.join(where)}" if where else "",
            f"GROUP-BY {', '.join(self.groups)}" if self.groups else "",
            f"WITHIN {span(self.within, self.unit)}{slide}",
            "" if self.limit is None else f"LIMIT {self.limit}",
        ]
        return "\n".join(filter(None, clauses))


def text_of(queries: tuple[Query, ...]) -> str:
    return "\n\n".join(map(str, queries)) + "\n"


def span(length: Fraction, unit: str = "seconds") -> str:
    return f"{length} {unit}" if length.denominator == 1 else f"{decimal(length * 1000)} ms"
