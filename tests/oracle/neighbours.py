"""Generation of random workloads whose queries compare neighbours within Kleene, by predicates that others have too."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.ambiguity import ambiguous
from tests.oracle.expressions import Attribute, Binary, Expression
from tests.oracle.grow import variables
from tests.oracle.query import Aggregate, Query, negations
from tests.oracle.sharing import KLEENE, PATTERNS, called, streams
from tests.oracle.strategies import COMPARISONS, neighbours, single_predicates

Links = tuple[tuple[str, str], ...]
"""Operators and attributes."""

LINKS: st.SearchStrategy[Links] = st.lists(
    st.tuples(st.sampled_from(COMPARISONS), st.sampled_from("vvw")), min_size=1, max_size=2
).map(tuple)


def _compared(variable: str, links: Links) -> list[Expression]:
    return [Binary(symbol, Attribute(variable, name), Attribute(variable, name, next=True)) for symbol, name in links]


@st.composite
def _queries(draw: st.DrawFn, name: str, pool: list[Links], extremes: tuple[str, ...]) -> Query:
    """Draw a query in which nearly every Kleene over A compares its neighbours, and some over B."""
    pattern = called(draw(st.sampled_from(PATTERNS)), draw(st.sampled_from(("A", "a"))))
    near = {first for first, second in neighbours(pattern) if first == second}
    hidden = {leaf for part in negations(pattern) for leaf in variables(part)}
    named = [variable for variable in variables(pattern) if variable in KLEENE and variable not in hidden]
    predicates, aggregates = [], [Aggregate("COUNT")]
    for variable in variables(pattern):
        if variable in near and draw(st.integers(0, 5)) < (5 if variable in KLEENE else 2):
            predicates += _compared(variable, draw(st.sampled_from(pool)))
        if draw(st.integers(0, 5)) == 0:
            predicates.append(draw(single_predicates(variable)))
    for variable in named:
        if draw(st.integers(0, 2)) == 0:
            aggregates.append(Aggregate(draw(st.sampled_from(("SUM", "AVG"))), variable, draw(st.sampled_from("vw"))))
        if draw(st.integers(0, 3)) == 0:
            aggregates.append(Aggregate("COUNT", variable))
        aggregates += [Aggregate(function, variable, "v") for function in extremes]
    query = Query(name, tuple(dict.fromkeys(aggregates)), pattern, Fraction(20), predicates=tuple(predicates))
    return query if not ambiguous(query) else replace(query, aggregates=query.aggregates[:1], predicates=())


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    """Draw queries with the same windows and grouping, whose links are the same or not."""
    pool = draw(st.lists(LINKS, min_size=1, max_size=3))
    extremes = draw(st.sampled_from(((), (), ("MIN",), ("MAX", "MIN"))))
    groups = draw(st.sampled_from(((), ("g",))))
    slide = draw(st.sampled_from((Fraction(20), Fraction(10), Fraction(7))))
    queries = [draw(_queries(f"q{n + 1}", pool, extremes)) for n in range(draw(st.sampled_from((2, 2, 3, 5))))]
    return tuple(replace(one, slide=slide, groups=groups) for one in queries), draw(streams(most, whole))
