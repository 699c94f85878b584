"""Random workloads whose queries share, and streams in bursts, which are what is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.ambiguity import ambiguous
from tests.oracle.expressions import Attribute, Binary, Expression, Literal
from tests.oracle.grow import variables
from tests.oracle.query import Absent, Aggregate, And, One, Or, Pattern, Query, Repeat, Seq, negations
from tests.oracle.strategies import COMPARISONS, PARTS, edged, single_predicates

KLEENE = ("A", "a", "x", "y")
"""Variables of the type that queries share."""
WIDTHS = tuple(map(Fraction, ("40", "20", "20", "12", "10", "5")))

Frame = Callable[[One, One, One, One, One], Pattern]
Extremes = tuple[tuple[str, str], ...]
"""Functions and attributes; queries share where they have the same."""


def plus(part: Pattern) -> Pattern:
    return Repeat(part, 1, None)


def maybe(part: Pattern) -> Pattern:
    return Repeat(part, 0, 1)


FRAMES: tuple[Frame, ...] = (
    lambda a, b, c, d, e: plus(a),
    lambda a, b, c, d, e: Seq((c, plus(a))),
    lambda a, b, c, d, e: Seq((plus(a), d)),
    lambda a, b, c, d, e: Seq((c, plus(a), d)),
    lambda a, b, c, d, e: Seq((c, b, plus(a))),
    # Negations, between and at the edges.
    lambda a, b, c, d, e: Seq((c, Absent(e), plus(a), d)),
    lambda a, b, c, d, e: Seq((c, plus(a), Absent(e), d)),
    lambda a, b, c, d, e: Seq((c, plus(a), Absent(Seq((e, d))))),
    lambda a, b, c, d, e: Seq((Absent(e), plus(a))),
    lambda a, b, c, d, e: Seq((c, Or((Absent(e), d)), plus(a))),
    # Prefixes and suffixes that may be absent.
    lambda a, b, c, d, e: Seq((maybe(c), plus(a), d)),
    lambda a, b, c, d, e: Seq((Repeat(c, 0, None), plus(a), maybe(d))),
    lambda a, b, c, d, e: Seq((c, Repeat(a, 0, None), d)),
    # Kleene in Kleene.
    lambda a, b, c, d, e: plus(Seq((plus(a), d))),
    lambda a, b, c, d, e: plus(Seq((c, plus(a)))),
    lambda a, b, c, d, e: Seq((c, plus(Seq((plus(a), d))), e)),
    lambda a, b, c, d, e: plus(Or((plus(a), c))),
    # Several of them.
    lambda a, b, c, d, e: Seq((plus(a), plus(b))),
    lambda a, b, c, d, e: Seq((plus(b), c, plus(a))),
    lambda a, b, c, d, e: plus(Seq((plus(a), plus(b)))),
    lambda a, b, c, d, e: Seq((plus(replace(a, variable="x")), c, plus(replace(a, variable="y")))),
    # Alternatives.
    lambda a, b, c, d, e: Or((plus(a), Seq((c, d)))),
    lambda a, b, c, d, e: Seq((Or((c, d)), plus(a))),
    lambda a, b, c, d, e: Or((Seq((c, plus(a))), plus(b))),
    # Conjunctions.
    lambda a, b, c, d, e: And((Seq((c, plus(a))), d)),
    lambda a, b, c, d, e: And((plus(a), plus(b))),
    # The type elsewhere than in a Kleene sub-pattern of its own.
    lambda a, b, c, d, e: Seq((c, Absent(plus(a)), plus(b))),
    lambda a, b, c, d, e: Seq((c, a, d)),
    lambda a, b, c, d, e: Seq((c, Repeat(a, 2, None))),
)


@st.composite
def _patterns(draw: st.DrawFn) -> Pattern:
    frame = draw(st.sampled_from((*FRAMES[:5], *FRAMES)))
    kleene = One("A", draw(st.sampled_from(KLEENE)))
    c, d, e = (One(name, name) for name in draw(st.sampled_from(("CDE", "CDE", "CED", "DCE", "EDC"))))
    return frame(kleene, One("B", "B"), c, d, e)


THRESHOLDS = st.builds(
    lambda name, symbol, value: lambda variable: Binary(symbol, Attribute(variable, name), Literal(value)),
    st.sampled_from("vvw"),
    st.sampled_from(COMPARISONS),
    st.integers(1, 6),
)
"""Predicates on events, whatever their variable is called."""

Threshold = Callable[[str], Expression]


@st.composite
def _predicates(draw: st.DrawFn, pattern: Pattern, pool: list[Threshold]) -> tuple[Expression, ...]:
    """Mostly on the type that queries share, and mostly those that other queries have too."""
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
    if draw(st.integers(0, 11)) == 5 and named:
        found.append(Aggregate(draw(st.sampled_from(("MIN", "MAX"))), draw(st.sampled_from(named)), "w"))
    return tuple(dict.fromkeys(found))


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Query, ...]:
    """Two queries to eight, most of which share Kleene over A, and some over B."""
    pool = draw(st.lists(THRESHOLDS, min_size=2, max_size=5))
    extremes: Extremes = draw(st.sampled_from(((), (), (), (("MIN", "v"),), (("MAX", "v"), ("MIN", "w")))))
    groups = draw(st.sampled_from(((), ("g",), ("g",), ("g", "h"))))
    equal = draw(st.sampled_from(((), (), ("h",), ("g",))))
    queries = []
    for number in range(draw(st.sampled_from((2, 2, 3, 3, 4, 5, 8)))):
        pattern = draw(_patterns())
        odd = draw(st.integers(0, 15)) == 5
        query = Query(
            f"q{number + 1}",
            draw(_aggregates(pattern, extremes)),
            pattern,
            draw(st.sampled_from(WIDTHS)),
            predicates=draw(_predicates(pattern, pool)),
            groups=() if odd else groups,
            equivalence=equal,
        )
        if draw(st.integers(0, 15)) != 5 or edged(query):
            query = replace(query, slide=query.within * draw(st.sampled_from(PARTS)))
        queries.append(replace(query, aggregates=query.aggregates[:1]) if ambiguous(query) else query)
    return tuple(queries)


# Streams


@st.composite
def streams(draw: st.DrawFn, most: int, whole: bool = False) -> list[dict[str, Any]]:
    """Bursts, mostly of A: of one type and partition, or nearly so, some events at equal times."""
    quarters = not whole and draw(st.integers(0, 3)) == 0
    broken = not whole and draw(st.integers(0, 3)) == 0
    nulls = draw(st.integers(0, 2)) == 0
    values: st.SearchStrategy[int | float] = st.integers(0, 28).map(lambda n: n / 4) if quarters else st.integers(0, 7)
    stray = st.integers(0, 11)
    event = st.fixed_dictionaries(
        {
            "type": stray.map(lambda n: {1: "X", 2: "B", 3: "E"}.get(n)),
            "g": stray.map(lambda n: {1: "p", 2: "q", 3: None if nulls else "r"}.get(n, "own")),
            "time": st.sampled_from((0, 0, 1, 1, 1, 1, 2)),
            "v": values | values | values | st.none(),
            "w": values,
            "h": st.sampled_from((1, 1, 1, 1, 2, None)) if nulls else st.just(1),
        }
    )
    time: float = draw(st.integers(-4, 4))
    found: list[dict[str, Any]] = []
    # Something that A may follow.
    first = draw(st.sampled_from("CCCABD"))
    while len(found) < most:
        kind, group = first if not found else draw(st.sampled_from("AAAAABBCDE")), draw(st.sampled_from("pppppqr"))
        size = draw(st.sampled_from((1, 2, 2, 3, 4, 6, 10) if kind in "AB" else (1, 1, 1, 2)))
        time += draw(st.sampled_from((0, 1, 1, 1, 3, 17)))
        for one in draw(st.lists(event, min_size=size, max_size=size)):
            time += one["time"] / 4 if broken else one["time"]
            own = group if one["g"] == "own" else one["g"]
            found.append({**one, "type": one["type"] or kind, "time": time, "g": own})
        if draw(st.integers(0, 15)) == 5:
            break
    return found[:most]


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    workload = draw(workloads())
    pairs = any(isinstance(query.pattern, And) for query in workload)
    return workload, draw(streams(min(most, 9) if pairs else most, whole))
