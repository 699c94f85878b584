"""Queries as values: frozen dataclasses that print back as text of the language.

`parse` returns them as the user wrote them. `resolve` makes them canonical: every event type has a variable of its own,
and every attribute refers to such a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import ClassVar, Literal

from elsinore.problems import Place as Place

Semantics = Literal["any", "next", "contiguous"]
Function = Literal["COUNT", "SUM", "AVG", "MIN", "MAX"]
ListFunction = Literal["FIRST", "LAST", "COUNT", "SUM", "AVG", "MIN", "MAX"]
ComparisonOperator = Literal["=", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = Literal["+", "-", "*", "/", "%"]
TimeUnit = Literal["ms", "seconds", "minutes", "hours", "days", "events"]


ENDS: tuple[ListFunction, ...] = ("FIRST", "LAST")
"""The functions that read an attribute of one event of a list."""


class Node:
    """A part of a query, or a query; `str` prints it in the query language."""

    __slots__ = ()
    show: ClassVar[Callable[[Node], str]]
    """Set by `printing`, which comes with this package."""

    def __str__(self) -> str:
        return Node.show(self)


def nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes inside it, parents before children."""
    yield node
    for one in fields(node):  # type: ignore[arg-type]
        value = getattr(node, one.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Node):
                yield from nodes(part)


def _place() -> Place | None:
    return field(default=None, compare=False, repr=False, kw_only=True)


# Patterns


@dataclass(frozen=True, slots=True)
class EventType(Node):
    name: str
    variable: str | None = None
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Kleene(Node):
    """A repetition and its bounds: `p+` is (1, None), `p*` (0, None), `p?` (0, 1), `p{n,m}` (n, m)."""

    part: Pattern
    least: int
    most: int | None
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Seq(Node):
    parts: tuple[Pattern, ...]
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Or(Node):
    parts: tuple[Pattern, ...]
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class And(Node):
    parts: tuple[Pattern, ...]
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Not(Node):
    part: Pattern
    place: Place | None = _place()


Pattern = EventType | Kleene | Seq | Or | And | Not


# Expressions


@dataclass(frozen=True, slots=True)
class LiteralValue(Node):
    """A number, a text, or a truth value."""

    value: int | float | str | bool
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """An attribute of a variable: `X.a`, or `NEXT(X).a` where `next` is set."""

    variable: str
    name: str
    next: bool = False
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    operator: ArithmeticOperator
    left: Expression
    right: Expression
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Minus(Node):
    part: Expression
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    operator: ComparisonOperator
    left: Expression
    right: Expression
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class In(Node):
    part: Expression
    values: tuple[LiteralValue, ...]
    negated: bool = False
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Between(Node):
    part: Expression
    low: Expression
    high: Expression
    negated: bool = False
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    part: Expression
    negated: bool = False
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class All(Node):
    """Conditions joined by AND inside one predicate."""

    parts: tuple[Expression, ...]
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Any(Node):
    """Conditions joined by OR."""

    parts: tuple[Expression, ...]
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Negation(Node):
    """NOT before a condition."""

    part: Expression
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Summary(Node):
    """A value of all events that a match binds to a variable: `FIRST(X).a`, `LAST(X).a`, `COUNT(X)`, `SUM(X.a)`."""

    function: ListFunction
    variable: str
    attribute: str | None
    place: Place | None = _place()


Expression = (
    LiteralValue | Attribute | Arithmetic | Minus | Comparison | In | Between | IsNull | All | Any | Negation | Summary
)


# The query


@dataclass(frozen=True, slots=True)
class Equivalence(Node):
    """An equivalence such as `[a, b]`: all events of a trend have the same value of a, and the same value of b."""

    attributes: tuple[str, ...]
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Grouping(Node):
    """A grouping attribute. A variable before it does not change its meaning. `check` refuses an alias."""

    attribute: str
    variable: str | None = None
    alias: str | None = None
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """An aggregate: `COUNT(*)` has no variable, `COUNT(X)` no attribute; `text` is as written, without blanks."""

    function: Function
    variable: str | None
    attribute: str | None
    text: str
    alias: str | None = None
    place: Place | None = _place()

    @property
    def label(self) -> str:
        """Return the name of its column in the rows."""
        return self.alias or self.text


@dataclass(frozen=True, slots=True)
class Item(Node):
    """An item of RETURN MATCHES; `text` is as written, without blanks."""

    value: Attribute | Summary
    text: str
    alias: str | None = None
    place: Place | None = _place()

    @property
    def label(self) -> str:
        """Return the name of its column in the rows."""
        return self.alias or self.text


@dataclass(frozen=True, slots=True)
class EventColumns(Node):
    """The columns of whole events: those of type and time as the user calls them, and the attributes."""

    type: str
    time: str
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matches(Node):
    """RETURN MATCHES: whole events by variable, or the items that follow."""

    items: tuple[Item, ...] = ()
    events: EventColumns | None = None
    """The columns of whole events, once the source of the events is known."""
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Span(Node):
    """A length of time, or a number of events."""

    amount: Fraction
    unit: TimeUnit
    place: Place | None = _place()

    @property
    def seconds(self) -> Fraction:
        milliseconds = {"ms": 1, "seconds": 1000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}
        return self.amount * milliseconds[self.unit] / 1000

    @property
    def length(self) -> Fraction:
        """Return the length on the clock of its query: in seconds, or in events."""
        return self.amount if self.unit == "events" else self.seconds


@dataclass(frozen=True, slots=True)
class Query(Node):
    """A query. `place` is where its text begins: QUERY and the name, or its first keyword."""

    name: str
    returns: tuple[Grouping | Aggregate, ...] | Matches
    pattern: Pattern
    within: Span
    semantics: Semantics = "any"
    equivalences: tuple[Equivalence, ...] = ()
    predicates: tuple[Expression, ...] = ()
    group_by: tuple[Grouping, ...] = ()
    slide: Span | None = None
    limit: int | None = None
    """Of the matches of a group that end at one time, how many are returned; None: all of them."""
    limit_place: Place | None = _place()
    place: Place | None = _place()

    @property
    def detects(self) -> bool:
        """Return whether it returns matches instead of aggregates."""
        return isinstance(self.returns, Matches)

    @property
    def bounds(self) -> tuple[str, str]:
        """Return the columns that say where a row begins and ends: its match, or its window."""
        if self.detects:
            return "start", "end"
        return ("event_start", "event_end") if self.counts_events else ("window_start", "window_end")

    @property
    def counts_events(self) -> bool:
        """Return whether its windows count events instead of time."""
        return self.within.unit == "events"

    @property
    def whole_events(self) -> bool:
        """Return whether its rows have whole events, with all their attributes: not `columns` alone."""
        return isinstance(self.returns, Matches) and not self.returns.items

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the items of RETURN MATCHES; none for an aggregation query, and none where rows have whole events."""
        return self.returns.items if isinstance(self.returns, Matches) else ()

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        if isinstance(self.returns, Matches):
            return ()
        return tuple(item for item in self.returns if isinstance(item, Aggregate))

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the grouping attributes, each once, in the order of GROUP-BY."""
        return tuple(dict.fromkeys(grouping.attribute for grouping in self.group_by))

    @property
    def partition(self) -> tuple[str, ...]:
        """Return the grouping and equivalence attributes, each once; their values split the stream into partitions."""
        equal = (attribute for equivalence in self.equivalences for attribute in equivalence.attributes)
        return tuple(dict.fromkeys((*self.groups, *equal)))

    @property
    def types(self) -> frozenset[str]:
        """Return the event types of the pattern, including those inside NOT."""
        return frozenset(node.name for node in nodes(self.pattern) if isinstance(node, EventType))

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the attributes that the query reads, by name; those of `whole_events` are known with the source."""
        parts = (*self.predicates, *(item.value for item in self.items))
        read = {name for one in parts for node in nodes(one) if (name := _attribute(node))}
        read |= {item.attribute for item in self.aggregates if item.attribute}
        if isinstance(self.returns, Matches) and self.returns.events:
            read |= set(self.returns.events.attributes)
        return tuple(sorted(read | set(self.partition)))


def _attribute(node: Node) -> str | None:
    """Return the attribute that a node reads; None for other nodes, and for COUNT."""
    match node:
        case Attribute():
            return node.name
        case Summary():
            return node.attribute
    return None


@dataclass(frozen=True, slots=True)
class Workload(Node):
    queries: tuple[Query, ...]
    text: str = field(default="", compare=False, repr=False)

    @property
    def types(self) -> frozenset[str]:
        """Return the event types that any of the queries names."""
        return frozenset[str]().union(*(query.types for query in self.queries))

    @property
    def spans(self) -> tuple[Fraction, ...]:
        """Return the distinct lengths of windows and slides in seconds, ascending; those in events are none of them."""
        found = (span for query in self.queries for span in (query.within, query.slide))
        return tuple(sorted({span.seconds for span in found if span is not None and span.unit != "events"}))
