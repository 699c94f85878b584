"""Generation of random workloads whose queries share prefixes, and aggregate any variables of these."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.ambiguity import ambiguous
from tests.oracle.expressions import Attribute, Binary, Expression, Literal
from tests.oracle.grow import variables
from tests.oracle.query import Absent, Aggregate, One, Or, Pattern, Query, Repeat, Seq, leaves, negations
from tests.oracle.sharing import A, B, C, D, E, called, maybe, plus, star, streams
from tests.oracle.strategies import PARTS

A2, A3, B1, B2 = One("A", "A2"), One("A", "A3"), One("B", "B1"), One("B", "B2")
BEGINNINGS: tuple[tuple[Pattern, ...], ...] = (
    (C, plus(A)),
    (plus(A),),
    (C,),
    (Or((C, D)), plus(A)),
    (maybe(C), plus(A)),
    (C, A),
    (plus(A), C),
    (Repeat(A, 1, 3),),
    (Or((A, Seq((A3, D)))),),
)
ENDS: tuple[tuple[Pattern, ...], ...] = (
    (),
    (B,),
    (D,),
    (plus(B), D),
    (star(D), B),
    (plus(A2),),
    (Or((D, Seq((B, D)))),),
    (Or((Seq((B1, D)), Seq((B2, E)))),),
    (Absent(E), B),
)
FUNCTIONS = ("COUNT", "SUM", "SUM", "AVG", "MIN", "MAX")
WIDTHS = tuple(map(Fraction, ("40", "20", "20", "12")))

Tested = tuple[str, str, int]
"""Attribute, operator and value of a predicate on an event, without its variable."""
TESTED: st.SearchStrategy[Tested] = st.tuples(st.sampled_from("vw"), st.sampled_from((">", "<=")), st.integers(1, 6))


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Query, ...]:
    """Draw two to six queries, which rarely have different windows."""
    beginnings = draw(st.lists(st.sampled_from(BEGINNINGS), min_size=1, max_size=2))
    pool = draw(st.lists(TESTED, min_size=1, max_size=2))
    groups = draw(st.sampled_from(((), ("g",))))
    within = draw(st.sampled_from(WIDTHS))
    slide = within * draw(st.sampled_from(PARTS))
    queries = []
    for number in range(draw(st.sampled_from((3, 2, 4, 6)))):
        parts = (*draw(st.sampled_from(beginnings)), *draw(st.sampled_from(ENDS)))
        pattern = Seq(parts) if len(parts) > 1 else parts[0]
        pattern = called(pattern, draw(st.sampled_from("ax" if {A2, A3} & {*leaves(pattern)} else "AAax")))
        odd = draw(st.integers(0, 15)) == 7
        query = Query(f"q{number + 1}", (Aggregate("COUNT"),), pattern, within, slide / 2 if odd else slide)
        query = replace(query, groups=groups, predicates=draw(_predicates(pattern, pool)))
        full = replace(query, aggregates=draw(_aggregates(pattern)))
        queries.append(query if ambiguous(full) else full)
    return tuple(queries)


@st.composite
def _predicates(draw: st.DrawFn, pattern: Pattern, pool: list[Tested]) -> tuple[Expression, ...]:
    found: list[Expression] = []
    for variable in variables(pattern):
        if draw(st.integers(0, 3)) == 1:
            name, symbol, value = draw(st.sampled_from(pool))
            found.append(Binary(symbol, Attribute(variable, name), Literal(value)))
    return tuple(found)


@st.composite
def _aggregates(draw: st.DrawFn, pattern: Pattern) -> tuple[Aggregate, ...]:
    hidden = {leaf.variable for part in negations(pattern) for leaf in leaves(part)}
    found = [Aggregate("COUNT")]
    for variable in variables(pattern):
        if variable not in hidden and draw(st.integers(0, 2)) == 1:
            function = draw(st.sampled_from(FUNCTIONS))
            found.append(Aggregate(function, variable, None if function == "COUNT" else draw(st.sampled_from("vw"))))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    return draw(workloads()), draw(streams(most, whole))
