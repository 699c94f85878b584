"""Generation of random workloads of RETURN MATCHES, with small numbers so that ties, repeats and nulls are frequent."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.detection import listed, positive
from tests.oracle.expressions import Attribute, Binary, Expression, Of
from tests.oracle.grow import LEAF, NEEDED, NEGATED, SHAPES, TYPES, counted_options, variables
from tests.oracle.query import Absent, And, Item, One, Or, Pattern, Query, Repeat, Seq, leaves, negations
from tests.oracle.strategies import COMPARISONS, LITERALS, NUMBERS, pair_predicates, single_predicates, streams

ANY = "skip-till-any-match"
SEMANTICS = (ANY, ANY, "skip-till-next-match", "contiguous")
SECONDS = tuple(map(Fraction, ("40", "20", "10", "8", "5", "5/2", "1/2")))
EVENTS = tuple(map(Fraction, ("20", "12", "8", "5", "3", "1")))
MOST_QUERIES = 8

# Patterns

OPERANDS: st.SearchStrategy[Pattern] = st.one_of(
    LEAF, LEAF, NEEDED, st.builds(lambda first, no, last: Seq((first, no, last)), LEAF, NEGATED, LEAF)
)
CONJUNCTIONS: st.SearchStrategy[Pattern] = st.lists(OPERANDS, min_size=2, max_size=3).map(
    lambda parts: And(tuple(parts))
)
NESTED: st.SearchStrategy[Pattern] = st.one_of(
    st.builds(lambda part, last: Seq((part, last)), CONJUNCTIONS, NEEDED),
    st.builds(lambda first, part: Seq((first, part)), NEEDED, CONJUNCTIONS),
    st.builds(lambda first, no, part: Seq((first, no, part)), LEAF, NEGATED, CONJUNCTIONS),
    st.builds(lambda no, part, last: Seq((no, part, last)), NEGATED, CONJUNCTIONS, LEAF),
    st.builds(lambda part, no: Seq((part, no)), CONJUNCTIONS, NEGATED),
    st.builds(lambda part, other: Or((part, other)), CONJUNCTIONS, NEEDED),
)
"""Patterns with AND inside of SEQ or OR: for skip-till-any-match alone."""


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    kind = draw(st.integers(0, 7))
    shape = draw(NESTED if kind < 2 else CONJUNCTIONS if kind == 2 else SHAPES)
    return draw(named(shape, draw(st.sampled_from(("AB", TYPES, TYPES, TYPES)))))


@st.composite
def named(draw: st.DrawFn, shape: Pattern, types: str) -> Pattern:
    """Draw a type for each leaf of a shape, and a variable for each type that stands more than once."""
    count = sum(1 for _ in leaves(shape))
    chosen = [*draw(st.permutations(types)), *draw(st.lists(st.sampled_from(types), min_size=count, max_size=count))]
    often = {name for name, times in Counter(chosen[:count]).items() if times > 1}
    always = draw(st.booleans())
    names = iter(
        [One(kind, f"{kind.lower()}{n}" if always or kind in often else kind) for n, kind in enumerate(chosen)]
    )

    def fill(part: Pattern) -> Pattern:
        match part:
            case One():
                return next(names)
            case Repeat(inner, least, most):
                return Repeat(fill(inner), least, most)
            case Absent(inner):
                return Absent(fill(inner))
            case Seq(parts) | Or(parts) | And(parts):
                return type(part)(tuple(map(fill, parts)))

    return fill(shape)


def is_nested(pattern: Pattern) -> bool:
    """Return whether AND stands anywhere but on top."""
    match pattern:
        case One():
            return False
        case Repeat(part) | Absent(part):
            return has_and(part)
        case And(parts) | Seq(parts) | Or(parts):
            return any(map(has_and, parts))


def has_and(pattern: Pattern) -> bool:
    """Return whether AND stands anywhere in a pattern."""
    return isinstance(pattern, And) or is_nested(pattern)


# Predicates


def values(variable: str) -> st.SearchStrategy[Expression]:
    """Return attributes of one event, and values of all events of a variable."""
    attribute: st.SearchStrategy[Expression] = st.sampled_from(NUMBERS).map(lambda name: Attribute(variable, name))
    return attribute | attribute | attribute | summaries(variable)


def summaries(variable: str) -> st.SearchStrategy[Of]:
    functions = st.sampled_from(("FIRST", "LAST", "SUM", "AVG", "MIN", "MAX"))
    of = st.builds(lambda function, name: Of(function, variable, name), functions, st.sampled_from(NUMBERS))
    return of | st.just(Of("COUNT", variable))


@st.composite
def relations(draw: st.DrawFn, inside: list[str], others: list[str]) -> Expression:
    """Draw a comparison of two or three variables, the first one of `inside`; OR may join two of them."""
    first = draw(st.sampled_from(inside))
    attribute = st.sampled_from(NUMBERS).map(lambda name: Attribute(first, name))
    other = draw(values(draw(st.sampled_from(others))))
    left: Expression = draw(attribute)
    if draw(st.integers(0, 3)) == 0:
        left = Binary("+", left, draw(values(draw(st.sampled_from(others)))))
    found = Binary(draw(st.sampled_from(COMPARISONS)), left, other)
    if draw(st.integers(0, 4)) == 0:
        found = Binary("OR", found, draw(single_predicates(draw(st.sampled_from(others)))))
    return found


@st.composite
def predicates(draw: st.DrawFn, pattern: Pattern, semantics: str) -> tuple[Expression, ...]:
    known = variables(pattern)
    insides = [[name for name in variables(part) if name in known] for part in negations(pattern)]
    hidden = {name for inside in insides for name in inside}
    outside = [leaf.variable for leaf in positive(pattern) if leaf.variable in known]
    lists = sorted(listed(pattern) & set(known))
    found = [draw(single_predicates(name)) for name in known if draw(st.integers(0, 5)) == 0]
    if len(outside) > 1:
        times = draw(st.sampled_from((0, 0, 1, 1, 2)))
        found += [draw(relations(outside, outside)) for _ in range(times)]
    if draw(st.booleans()) and lists:
        name = draw(st.sampled_from(lists))
        if draw(st.booleans()):
            found.append(draw(pair_predicates(name, name)))
        elif name not in hidden:
            compared = draw(LITERALS | summaries(name))
            found.append(Binary(draw(st.sampled_from(COMPARISONS)), draw(summaries(name)), compared))
    for inside in insides:
        if draw(st.booleans()) and semantics == ANY and inside and outside:
            found.append(draw(relations(inside, outside)))
    return tuple(found)


# Queries


@st.composite
def items(draw: st.DrawFn, pattern: Pattern) -> tuple[Item, ...]:
    names = [leaf.variable for leaf in positive(pattern)]
    value = st.sampled_from(names).flatmap(lambda name: values(name) | st.just(Attribute(name, "id")))
    item = st.builds(Item, value, st.sampled_from((None, None, "alias")))
    return tuple(draw(st.lists(item, min_size=1, max_size=4, unique_by=lambda one: one.label)))


@st.composite
def queries(draw: st.DrawFn, name: str) -> Query:
    pattern = draw(patterns())
    only_any = is_nested(pattern) or counted_options(pattern)
    semantics = ANY if only_any else draw(st.sampled_from(SEMANTICS))
    unit = draw(st.sampled_from(("seconds", "seconds", "events")))
    query = Query(
        name,
        (),
        pattern,
        draw(st.sampled_from(SECONDS if unit == "seconds" else EVENTS)),
        None,
        semantics,
        draw(st.sampled_from(((), (), ("h",), ("h", "g")))),
        draw(predicates(pattern, semantics)),
        draw(st.sampled_from(((), (), ("g",), ("g", "h")))),
        unit,
    )
    if draw(st.integers(0, 3)) == 0:
        query = replace(query, items=draw(items(pattern)))
    if draw(st.integers(0, 4)) == 0:
        query = replace(query, limit=draw(st.integers(1, 3)))
    return query


@st.composite
def workloads(draw: st.DrawFn, most: int = MOST_QUERIES) -> tuple[Query, ...]:
    count = draw(st.sampled_from([n for n in (1, 1, 2, 2, 3, 4, 6, 8) if n <= most]))
    return tuple(draw(queries(f"q{n + 1}")) for n in range(count))


@st.composite
def cases(
    draw: st.DrawFn, most: int, queries: int = MOST_QUERIES, whole: bool = False
) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    """Draw a workload and a stream of at most `most` events, mostly of its types; with `whole`, of integers alone.

    Each event has an `id`: its number in the stream.
    """
    workload = draw(workloads(queries))
    asked = sorted({leaf.type for query in workload for leaf in leaves(query.pattern)})
    stream = draw(streams("".join(asked * 2) + "X", most, whole))
    return workload, [{"id": number, **event} for number, event in enumerate(stream)]
