"""Generation of random workloads whose queries can share bursts, and of bursty streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.ambiguity import ambiguous
from tests.oracle.enumerate import ANY
from tests.oracle.expressions import Attribute, Binary, Expression, Literal
from tests.oracle.grow import variables
from tests.oracle.query import Absent, Aggregate, And, One, Or, Pattern, Query, Repeat, Seq, leaves, negations
from tests.oracle.strategies import PARTS, edged, single_predicates

KLEENE = ("A", "a", "x", "y")
"""Variables of the type whose bursts queries share."""
WIDTHS = tuple(map(Fraction, ("40", "20", "20", "12", "10", "5")))

Threshold = Callable[[str], Expression]
"""Returns a predicate on an event for the name of its variable."""
Extremes = tuple[tuple[str, str], ...]
"""Functions and attributes; queries with the same ones can share."""

A, B, C, D, E = (One(name, name) for name in "ABCDE")
X, Y = One("A", "x"), One("A", "y")


def plus(*parts: Pattern) -> Pattern:
    return Repeat(parts[0] if len(parts) == 1 else Seq(parts), 1, None)


def maybe(part: Pattern) -> Pattern:
    return Repeat(part, 0, 1)


def star(part: Pattern) -> Pattern:
    return Repeat(part, 0, None)


RARELY = st.integers(0, 40).map(lambda n: n == 23)

PLAIN: tuple[Pattern, ...] = (plus(A), Seq((C, plus(A))), Seq((plus(A), D)), Seq((C, plus(A), D)), Seq((D, plus(A))))
NEGATIONS: tuple[Pattern, ...] = (
    Seq((C, Absent(E), plus(A), D)),
    Seq((C, plus(A), Absent(E), D)),
    Seq((C, plus(A), Absent(Seq((E, D))))),
    Seq((Absent(E), plus(A))),
    Seq((C, Or((Absent(E), D)), plus(A))),
)
OPTIONS: tuple[Pattern, ...] = (
    Seq((maybe(C), plus(A), D)),
    Seq((star(C), plus(A), maybe(D))),
    Seq((C, star(A), D)),
    Or((plus(A), Seq((C, D)))),
    Seq((Or((C, D)), plus(A))),
    Or((Seq((C, plus(A))), plus(B))),
)
NESTED: tuple[Pattern, ...] = (
    plus(plus(A), D),
    plus(C, plus(A)),
    Seq((C, plus(plus(A), D), E)),
    plus(Or((plus(A), C))),
)
SEVERAL: tuple[Pattern, ...] = (
    Seq((plus(A), plus(B))),
    Seq((plus(B), C, plus(A))),
    plus(plus(A), plus(B)),
    Seq((C, B, plus(A))),
    Seq((plus(X), C, plus(Y))),
    And((Seq((C, plus(A))), D)),
    And((plus(A), plus(B))),
)
ELSEWHERE: tuple[Pattern, ...] = (Seq((C, Absent(plus(A)), plus(B))), Seq((C, A, D)), Seq((C, Repeat(A, 2, None))))
"""Patterns in which A occurs, but not in a sharable Kleene sub-pattern."""

PATTERNS = (*PLAIN, *PLAIN, *NEGATIONS, *OPTIONS, *NESTED, *SEVERAL, *ELSEWHERE)


@st.composite
def _patterns(draw: st.DrawFn) -> Pattern:
    pattern = draw(st.sampled_from(PATTERNS))
    return called(pattern, draw(st.sampled_from(("A", "A", "a", "x")))) if Y not in leaves(pattern) else pattern


def called(pattern: Pattern, variable: str) -> Pattern:
    """Return the pattern with another variable for A."""
    match pattern:
        case One():
            return replace(pattern, variable=variable) if pattern == A else pattern
        case Repeat(part) | Absent(part):
            return replace(pattern, part=called(part, variable))
        case Seq(parts) | Or(parts) | And(parts):
            return replace(pattern, parts=tuple(called(part, variable) for part in parts))


THRESHOLDS: st.SearchStrategy[Threshold] = st.builds(
    lambda name, symbol, value: lambda variable: Binary(symbol, Attribute(variable, name), Literal(value)),
    st.sampled_from("wv"),
    st.sampled_from((">", "<", "<=", ">=", "!=", "=")),
    st.sampled_from((3, 2, 4, 5)),
)


@st.composite
def _predicates(draw: st.DrawFn, pattern: Pattern, pool: list[Threshold]) -> tuple[Expression, ...]:
    """Draw predicates, mostly on the shared type, and mostly such as other queries have too."""
    chosen = []
    for variable in variables(pattern):
        if draw(st.integers(0, 9)) in ((1, 2, 3, 4, 5, 6, 7) if variable in KLEENE else (7,)):
            own = draw(st.sampled_from(pool))(variable)
            chosen.append(own if draw(st.integers(0, 4)) != 3 else draw(single_predicates(variable)))
    return tuple(chosen)


@st.composite
def _aggregates(draw: st.DrawFn, pattern: Pattern, extremes: Extremes) -> tuple[Aggregate, ...]:
    hidden = {leaf for part in negations(pattern) for leaf in variables(part)}
    named = [variable for variable in variables(pattern) if variable not in hidden]
    found = [Aggregate("COUNT")]
    for variable in named:
        kleene = variable in KLEENE
        if draw(st.integers(0, 2 if kleene else 5)) == 0:
            found.append(Aggregate("COUNT", variable))
        if draw(st.integers(0, 1 if kleene else 5)) == 0:
            function, name = draw(st.sampled_from(("SUM", "SUM", "AVG"))), draw(st.sampled_from("vvw"))
            found.append(Aggregate(function, variable, name))
        if kleene:
            found += [Aggregate(function, variable, name) for function, name in extremes]
    if draw(RARELY) and named:
        found.append(Aggregate(draw(st.sampled_from(("MIN", "MAX"))), draw(st.sampled_from(named)), "w"))
    return tuple(dict.fromkeys(found))


@st.composite
def workloads(draw: st.DrawFn, semantics: str = ANY) -> tuple[Query, ...]:
    """Draw two to eight queries, most of which can share Kleene over A, and some over B."""
    pool = draw(st.lists(THRESHOLDS, min_size=2, max_size=5, unique_by=lambda threshold: str(threshold("A"))))
    extremes: Extremes = draw(st.sampled_from(((), (), (), (("MIN", "v"),), (("MAX", "v"), ("MIN", "w")))))
    groups = draw(st.sampled_from(((), ("g",), ("g",), ("g", "h"))))
    equal = draw(st.sampled_from(((), (), ("h",), ("g",))))
    queries = []
    for number in range(draw(st.sampled_from((4, 3, 2, 6, 5, 8)))):
        pattern = draw(_patterns())
        odd = draw(RARELY)
        query = Query(
            f"q{number + 1}",
            draw(_aggregates(pattern, extremes)),
            pattern,
            draw(st.sampled_from(WIDTHS)),
            predicates=draw(_predicates(pattern, pool)),
            groups=() if odd else groups,
            equivalence=equal,
            semantics=ANY if draw(RARELY) else semantics,
        )
        if not draw(RARELY) or edged(query):
            query = replace(query, slide=query.within * draw(st.sampled_from(PARTS)))
        queries.append(replace(query, aggregates=query.aggregates[:1]) if ambiguous(query) else query)
    return tuple(queries)


# Streams

SIZES = st.sampled_from((3, 2, 4, 6, 10, 1, 2))
PAUSES = st.sampled_from((1, 1, 1, 0, 0, 1, 2))


@st.composite
def streams(draw: st.DrawFn, most: int, whole: bool = False) -> list[dict[str, Any]]:
    """Draw bursts, mostly of A, each of one type and partition with few exceptions; some events have equal times."""
    quarters = not whole and draw(st.integers(0, 3)) == 0
    broken = not whole and draw(st.integers(0, 3)) == 0
    nulls = draw(st.integers(0, 2)) == 0
    values: st.SearchStrategy[int | float] = st.integers(0, 28).map(lambda n: n / 4) if quarters else st.integers(0, 7)
    stray = st.integers(0, 23)
    event: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {
            "type": stray.map(lambda n: {1: "X", 2: "B", 3: "E"}.get(n)),
            "g": stray.map(lambda n: {1: "p", 2: "q", 3: None if nulls else "r"}.get(n, "own")),
            "pause": PAUSES,
            "v": values | values | values | st.none(),
            "w": values,
            "h": st.sampled_from((1, 1, 1, 1, 2, None)) if nulls else st.just(1),
        }
    )
    time: float = draw(st.integers(-4, 4))
    found: list[dict[str, Any]] = []
    length = draw(st.sampled_from((most, most, most, most // 2)))
    while len(found) < length:
        # Every other burst is of the shared type.
        kind = "A" if found and found[-1]["type"] != "A" else draw(st.sampled_from("CCCBBDDEA"))
        group, size = draw(st.sampled_from("pppppqr")), draw(SIZES if kind in "AB" else st.sampled_from((1, 1, 2)))
        time += draw(st.sampled_from((1, 1, 1, 0, 3, 17)))
        for one in draw(st.lists(event, min_size=size, max_size=size)):
            pause = one.pop("pause")
            time += pause / 4 if broken else pause
            # Hypothesis often draws equal values; vary them, so that thresholds distinguish events.
            one["w"] = (one["w"] + 3 * len(found)) % 8
            own = {"type": one["type"] or kind, "g": group if one["g"] == "own" else one["g"]}
            found.append({**one, **own, "time": time})
    return found[:length]


@st.composite
def cases(
    draw: st.DrawFn, most: int, whole: bool = False, semantics: str = ANY
) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    workload = draw(workloads(semantics))
    pairs = any(isinstance(query.pattern, And) for query in workload)
    return workload, draw(streams(min(most, 9) if pairs else most, whole))
