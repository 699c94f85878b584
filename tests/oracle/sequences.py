"""Generation of random workloads of sequences with common sub-patterns, whose windows move with every event."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.expressions import Attribute, Binary, Literal
from tests.oracle.query import Absent, Aggregate, One, Pattern, Query, Seq

WIDTHS = tuple(map(Fraction, ("4", "8", "12", "20", "30")))


@st.composite
def sequences(draw: st.DrawFn, base: list[str]) -> list[str]:
    """Draw one or several pairs of types that other queries also have, sometimes with one type before a pair."""
    pairs = st.sampled_from([base[:2], base[1:3], base[2:]])
    parts = draw(st.lists(pairs, min_size=1, max_size=3))
    place = draw(st.integers(0, 2 * len(parts)))
    if place < len(parts):
        parts.insert(place, [draw(st.sampled_from(base))])
    return [kind for part in parts for kind in part]


@st.composite
def queries(draw: st.DrawFn, name: str, types: list[str], extreme: str | None, groups: tuple[str, ...]) -> Query:
    leaves = [One(kind, f"x{place}") for place, kind in enumerate(types)]
    parts: list[Pattern] = [leaves[0]]
    for leaf in leaves[1:]:
        parts += [
            Absent(One(kind, f"n{len(parts)}{kind}")) for kind in draw(st.sampled_from(("", "", "", "", "", "X", "XB")))
        ]
        parts.append(leaf)
    variables = st.sampled_from([leaf.variable for leaf in leaves])
    items = [Aggregate("COUNT")]
    for variable in draw(st.lists(variables, max_size=2, unique=True)):
        items.append(draw(st.sampled_from((Aggregate("COUNT", variable), Aggregate("SUM", variable, "v")))))
        items.append(draw(st.sampled_from((Aggregate("AVG", variable, "w"), Aggregate("SUM", variable, "w")))))
    if extreme:
        found = [leaf.variable for leaf in leaves if leaf.type == "B"]
        items += [Aggregate(extreme, variable, "v") for variable in found[:1]]
    tested = draw(st.lists(variables, max_size=1))
    return Query(
        name,
        tuple(items),
        Seq(tuple(parts)),
        draw(st.sampled_from(WIDTHS)),
        predicates=tuple(Binary(">", Attribute(variable, "w"), Literal(1)) for variable in tested),
        equivalence=draw(st.sampled_from(((), ("h",)))) if groups else (),
        groups=groups,
    )


@st.composite
def workloads(draw: st.DrawFn, base: list[str]) -> tuple[Query, ...]:
    extreme, groups = draw(st.sampled_from((None, None, "MIN", "MAX"))), draw(st.sampled_from(((), ("g",))))
    count = draw(st.integers(2, 5))
    return tuple(draw(queries(f"q{n + 1}", draw(sequences(base)), extreme, groups)) for n in range(count))


@st.composite
def streams(draw: st.DrawFn, base: list[str], most: int) -> list[dict[str, Any]]:
    """Draw a stream with types mostly in turn, and some events at equal times."""
    event: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {
            "step": st.sampled_from((1, 1, 1, 0, 2, 3)),
            "pause": st.sampled_from((0, 1, 1, 1, 2)),
            "g": st.sampled_from("pppq"),
            "h": st.sampled_from((1, 1, 1, 2)),
            "v": st.integers(-3, 7) | st.none(),
            "w": st.integers(0, 7),
        }
    )
    found: list[dict[str, Any]] = []
    place = time = 0
    for one in draw(st.lists(event, min_size=most - 3, max_size=most)):
        time += one.pop("pause")
        place += one.pop("step")
        kind = "X" if place % 13 == 12 else base[place % len(base)]
        found.append({**one, "type": kind, "time": time})
    return found


@st.composite
def cases(draw: st.DrawFn, most: int) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    base = list(draw(st.permutations("ABCD")))
    return draw(workloads(base)), draw(streams(base, most))


def sliding(queries: tuple[Query, ...]) -> tuple[Query, ...]:
    """Return the same queries with windows that slide by half their length."""
    return tuple(replace(query, slide=query.within / 2) for query in queries)
