"""Generation of random workloads and streams, with small numbers so that ties, repeats and nulls are frequent."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.ambiguity import ambiguous
from tests.oracle.expressions import Attribute, Between, Binary, Expression, In, IsNull, Literal, Negation, predicates
from tests.oracle.grow import counted_options, patterns, variables
from tests.oracle.pattern import OPEN, endings, places, steps
from tests.oracle.query import Aggregate, And, Pattern, Query, leaves, negations

SEMANTICS = ("skip-till-any-match", "skip-till-any-match", "skip-till-next-match", "contiguous")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
NUMBERS = ("v", "w")
WIDTHS = tuple(map(Fraction, ("40", "20", "20", "20", "10", "10", "8", "5", "5/2", "1/2")))
PARTS = tuple(map(Fraction, ("1", "1", "1/2", "1/4", "3/4", "2/5")))
LITERALS = st.integers(0, 7).map(Literal)


# Predicates


def _numbers(variable: str) -> st.SearchStrategy[Expression]:
    """Return attributes, bare or in arithmetic. Divisors are powers of two, so that floats are exact."""
    attribute: st.SearchStrategy[Expression] = st.sampled_from(NUMBERS).map(lambda name: Attribute(variable, name))
    small = st.integers(0, 3).map(Literal)
    sums = st.builds(Binary, st.sampled_from("+-*"), attribute, small | attribute)
    parts = st.builds(Binary, st.sampled_from("/%"), attribute, st.sampled_from((2, 4)).map(Literal))
    return attribute | attribute | sums | parts


def _comparisons(variable: str) -> st.SearchStrategy[Expression]:
    number = _numbers(variable)
    return st.builds(Binary, st.sampled_from(COMPARISONS), number, LITERALS | number)


def single_predicates(variable: str) -> st.SearchStrategy[Expression]:
    """Return predicates on one variable."""
    comparison, number = _comparisons(variable), _numbers(variable)
    text = st.builds(
        lambda symbol, value: Binary(symbol, Attribute(variable, "g"), Literal(value)),
        st.sampled_from(("=", "!=")),
        st.sampled_from("pq"),
    )
    simple: st.SearchStrategy[Expression] = st.one_of(
        comparison,
        text,
        st.builds(In, number, st.lists(LITERALS, min_size=1, max_size=3).map(tuple)),
        st.builds(Between, number, LITERALS, LITERALS),
        st.builds(IsNull, st.sampled_from("vwgh").map(lambda name: Attribute(variable, name)), st.booleans()),
    )
    joined = st.builds(Binary, st.sampled_from(("AND", "OR")), simple, simple)
    return comparison | simple | st.builds(Negation, simple | joined) | joined


def pair_predicates(first: str, second: str) -> st.SearchStrategy[Expression]:
    """Return predicates on two adjacent events."""
    numbers = st.sampled_from(NUMBERS)
    left = numbers.map(lambda name: Attribute(first, name))
    right = numbers.map(lambda name: Attribute(second, name, next=first == second))
    moved = st.builds(Binary, st.sampled_from("+-"), right, st.integers(0, 3).map(Literal))
    return st.builds(Binary, st.sampled_from(COMPARISONS), left, right | right | moved)


def neighbours(pattern: Pattern) -> list[tuple[str, str]]:
    """Return the pairs of variables of which the second may directly follow the first, even in negations."""
    named = variables(pattern)
    operands = pattern.parts if isinstance(pattern, And) else (pattern,)
    found = {
        (place.at.variable, step.at.variable)
        for part in (*operands, *negations(pattern))
        for place in places(part)
        for step in steps(place.rest)
    }
    return sorted((first, second) for first, second in found if first in named and second in named)


@st.composite
def _predicates(draw: st.DrawFn, pattern: Pattern) -> tuple[Expression, ...]:
    chosen = [draw(single_predicates(variable)) for variable in variables(pattern) if draw(st.integers(0, 4)) == 0]
    pairs = neighbours(pattern)
    if draw(st.booleans()) and pairs:
        count = draw(st.sampled_from((1, 1, 2)))
        for _ in range(count):
            first, second = draw(st.sampled_from(pairs))
            chosen.append(draw(pair_predicates(first, second)))
    return tuple(chosen)


# Queries


def _aggregates(named: list[str]) -> st.SearchStrategy[tuple[Aggregate, ...]]:
    items: st.SearchStrategy[Aggregate] = st.just(Aggregate("COUNT"))
    if named:
        variable = st.sampled_from(named)
        values = st.builds(
            Aggregate,
            st.sampled_from(("SUM", "AVG", "MIN", "MAX")),
            variable,
            st.sampled_from(NUMBERS),
            st.sampled_from((None, None, None, "alias")),
        )
        items = items | st.builds(Aggregate, st.just("COUNT"), variable) | values
    return st.lists(items, min_size=1, max_size=4, unique_by=lambda item: item.label).map(tuple)


def edged(query: Query) -> bool:
    """Return whether a negation may be at the start or the end of a match."""
    starts = (step.gap for operand in query.operands for step in steps((operand,)))
    ends = (gap for operand in query.operands for place in places(operand) for gap in endings(place.rest))
    return any(gap != OPEN for gap in (*starts, *ends))


@st.composite
def queries(draw: st.DrawFn, name: str) -> Query:
    pattern = draw(patterns())
    hidden = {leaf for part in negations(pattern) for leaf in variables(part)}
    positive = [variable for variable in variables(pattern) if variable not in hidden]
    within = draw(st.sampled_from(WIDTHS))
    # In p?{0,2} a single event may be the first p or the second, and only skip-till-next-match distinguishes the two.
    semantics = draw(st.sampled_from(SEMANTICS[:1] if counted_options(pattern) else SEMANTICS))
    query = Query(
        name,
        draw(_aggregates(positive) | st.just((Aggregate("COUNT"),))),
        pattern,
        within,
        None,
        semantics,
        draw(st.sampled_from(((), (), ("h",), ("h", "g")))),
        draw(_predicates(pattern)),
        draw(st.sampled_from(((), (), ("g",), ("g", "h")))),
    )
    slides = draw(st.integers(0, 3)) > 0 or edged(query)
    query = replace(query, slide=within * draw(st.sampled_from(PARTS))) if slides else query
    # An ambiguous query that names variables must be refused; keep a few to test that.
    return _nameless(query) if ambiguous(query) and draw(st.integers(0, 3)) else query


def _nameless(query: Query) -> Query:
    pairs = [pair.expression for pair in predicates(query.predicates).pairs]
    single = tuple(each for each in query.predicates if each not in pairs)
    return replace(query, aggregates=(Aggregate("COUNT"),), predicates=single)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Query, ...]:
    return tuple(draw(queries(f"q{n + 1}")) for n in range(draw(st.sampled_from((1, 1, 2, 3, 4)))))


@st.composite
def windows_of_events(draw: st.DrawFn, workload: tuple[Query, ...]) -> tuple[Query, ...]:
    """Draw windows that count events, for most queries of a workload."""

    def counted(query: Query) -> Query:
        within = draw(st.sampled_from((20, 12, 8, 5, 3, 1)))
        slide = None if query.slide is None else Fraction(draw(st.integers(1, within)))
        return replace(query, within=Fraction(within), slide=slide, unit="events")

    return tuple(counted(query) if draw(st.integers(0, 4)) else query for query in workload)


# Streams


@st.composite
def streams(draw: st.DrawFn, types: str, most: int, whole: bool = False) -> list[dict[str, Any]]:
    """Draw events in order of time; every event has all attributes, some of them null."""
    quarters = not whole and draw(st.integers(0, 3)) == 0
    broken = not whole and draw(st.integers(0, 3)) == 0
    nulls = draw(st.integers(0, 2)) == 0
    values: st.SearchStrategy[int | float] = st.integers(0, 28).map(lambda n: n / 4) if quarters else st.integers(0, 7)
    latest = draw(st.sampled_from((6, 12, 30)))
    time: st.SearchStrategy[int | float] = st.integers(-4, latest)
    event = st.fixed_dictionaries(
        {
            "type": st.sampled_from(types),
            "time": time.map(lambda n: n / 4) if broken else time,
            "v": values | values | values | st.none(),
            "w": values,
            "g": st.sampled_from(("p", "p", "q", None)) if nulls else st.sampled_from("ppq"),
            "h": st.sampled_from((1, 1, 2, None)) if nulls else st.just(1),
        }
    )
    least = draw(st.sampled_from((most - 2, most - 1, most, most // 2, 1)))
    return sorted(draw(st.lists(event, min_size=least, max_size=most)), key=lambda each: each["time"])


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    """Draw a workload, and a stream mostly of its types; with `whole`, all numbers are integers."""
    workload = draw(workloads())
    pairs = any(isinstance(query.pattern, And) for query in workload)
    asked = sorted({leaf.type for query in workload for leaf in leaves(query.pattern)})
    return workload, draw(streams("".join(asked * 2) + "X", min(most, 9) if pairs else most, whole))


@st.composite
def counted_cases(draw: st.DrawFn, most: int, whole: bool = False) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    """Draw a workload that aggregates over windows of events, and a stream."""
    workload, stream = draw(cases(most, whole))
    return draw(windows_of_events(workload)), stream
