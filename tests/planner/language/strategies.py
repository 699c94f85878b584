"""Queries as values, in every form that the parser can give."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from elsinore.planner.language.syntax import (
    Aggregate,
    All,
    And,
    Any,
    Arithmetic,
    Attribute,
    Between,
    Comparison,
    Equivalence,
    EventType,
    Expression,
    Grouping,
    In,
    IsNull,
    Item,
    Kleene,
    LiteralValue,
    Matches,
    Minus,
    Negation,
    Not,
    Or,
    Query,
    Seq,
    Span,
    Summary,
    Workload,
)
from elsinore.planner.language.walk import plainly_named

NAMES = st.sampled_from(
    ["A", "B", "b", "x_1", "Übung", "_", "In", "Is", "Next", "True", "Between", "Null", "As", "Count", "e5", "Grouped"]
)

INTEGERS = st.integers(-(10**30), 10**30)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])) | st.sampled_from(
    ["", "it's", '"', "a;b", "--", "QUERY q RETURN", "(", "]"]
)
NUMBERS = st.builds(LiteralValue, INTEGERS | FLOATS)
LITERALS = NUMBERS | st.builds(LiteralValue, TEXTS | st.booleans())


def _parts(inner: st.SearchStrategy[object], least: int = 1) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(inner, min_size=least, max_size=3).map(tuple)


EVENT_TYPES = st.builds(EventType, NAMES, st.none() | NAMES)
PATTERNS = st.recursive(
    EVENT_TYPES,
    lambda inner: (
        st.builds(Kleene, inner, st.integers(0, 3), st.none() | st.integers(0, 3))
        | st.builds(Seq, _parts(inner))
        | st.builds(Or, _parts(inner))
        | st.builds(And, _parts(inner))
        | st.builds(Not, inner)
    ),
    max_leaves=8,
)

ATTRIBUTES = st.builds(Attribute, NAMES, NAMES, st.booleans())


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    signed = inner.filter(lambda part: not _is_number(part))
    return (
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner)
        | st.builds(Minus, signed)
        | st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), inner, inner)
        | st.builds(In, inner, _parts(LITERALS), st.booleans())
        | st.builds(Between, inner, inner, inner, st.booleans())
        | st.builds(IsNull, inner, st.booleans())
        | st.builds(All, _parts(inner, 2))
        | st.builds(Any, _parts(inner, 2))
        | st.builds(Negation, inner)
    )


def _is_number(part: Expression) -> bool:
    """A sign before a number belongs to the number."""
    return isinstance(part, LiteralValue) and type(part.value) in (int, float)


SUMMARIES = st.builds(Summary, st.just("COUNT"), NAMES, st.none()) | st.builds(
    Summary, st.sampled_from(["FIRST", "LAST", "SUM", "AVG", "MIN", "MAX"]), NAMES, NAMES
)
EXPRESSIONS = st.recursive(LITERALS | ATTRIBUTES | SUMMARIES, _larger, max_leaves=8)
PREDICATES = EXPRESSIONS.filter(lambda expression: not isinstance(expression, All))

GROUPINGS = st.builds(Grouping, NAMES, st.none() | NAMES)


@st.composite
def aggregates(draw: st.DrawFn) -> Aggregate:
    function = draw(st.sampled_from(["COUNT", "SUM", "AVG", "MIN", "MAX"]))
    variable = draw(st.none() | NAMES)
    attribute = draw(st.none() | NAMES) if variable else None
    written = draw(st.sampled_from([function, function.lower(), function.title()]))
    operand = ".".join(part for part in (variable or "*", attribute) if part)
    return Aggregate(function, variable, attribute, f"{written}({operand})", draw(st.none() | NAMES))  # type: ignore[arg-type]


ITEMS = aggregates() | st.builds(Grouping, NAMES, st.none() | NAMES, st.none() | NAMES)


@st.composite
def match_items(draw: st.DrawFn) -> Item:
    value = draw(st.builds(Attribute, NAMES, NAMES) | SUMMARIES)
    return Item(value, str(value), draw(st.none() | NAMES))


SPANS = st.builds(
    Span,
    st.builds(Fraction, st.integers(-(10**6), 10**6), st.sampled_from([1, 2, 5, 10, 1000])),
    st.sampled_from(["ms", "seconds", "minutes", "hours", "days", "events"]),
)

QUERIES = st.builds(
    Query,
    NAMES,
    st.builds(Matches, _parts(match_items(), 0)) | _parts(ITEMS),
    PATTERNS.map(plainly_named),
    SPANS,
    st.sampled_from(["any", "next", "contiguous"]),
    _parts(st.builds(Equivalence, _parts(NAMES)), 0),
    _parts(PREDICATES, 0),
    _parts(GROUPINGS, 0),
    st.none() | SPANS,
    st.none() | st.integers(1, 10**9),
)

WORKLOADS = st.builds(Workload, _parts(QUERIES))
