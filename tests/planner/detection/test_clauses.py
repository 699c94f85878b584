"""Patterns of queries: what the planner is told, and what is left out; patterns as text are the patterns again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsinore.bench.multi.generator import STOCKS, TRAFFIC, Parameters, workload
from elsinore.planner.checks.check import check_text
from elsinore.planner.detection.clauses import patterns_of, queries_of
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, closed, filled
from elsinore.planner.detection.shape import shape_of
from elsinore.planner.detection.text import conditions_text, structure_text


def patterns(text: str) -> list[Pattern]:
    return [one for query in check_text(text).queries for one in patterns_of(normal_form(query)).values()]


def told(pattern: str, where: str = "", rest: str = "WITHIN 10 seconds") -> list[str]:
    """Each pattern of a query as text, with its conditions."""
    query = f"QUERY q RETURN MATCHES PATTERN {pattern} {f'WHERE {where}' if where else ''} {rest}"
    return [f"{structure_text(one)} {conditions_text(one)}".strip() for one in patterns(query)]


@pytest.mark.parametrize(
    ("pattern", "where", "expected"),
    [
        ("SEQ(A, B, C)", "A.v < C.v", ["SEQ(A, B, C) A.v < C.v"]),
        ("SEQ(A, AND(B, C))", "A.v > 3 AND C.v > A.v", ["SEQ(A[A.v > 3], AND(B, C)) A.v < C.v"]),
        ("SEQ(A, B+, C{2,3})", "", ["SEQ(A, B+, C{2,3})"]),
        ("SEQ(A, B?, C)", "", ["SEQ(A, B, C)", "SEQ(A, C)"]),
        ("SEQ(A, (B | C), D)", "B.v < D.v", ["SEQ(A, B, D) B.v < D.v", "SEQ(A, C, D)"]),
        ("SEQ(A, NOT N, B)", "N.v < A.v", ["SEQ(A, NOT N, B) N.v < A.v"]),
        ("SEQ(AND(A, SEQ(B, NOT N, C)), D)", "", ["SEQ(AND(A, SEQ(B, NOT N, C)), D)"]),
        ("SEQ(A, NOT N, NOT M, B)", "N.v = 1", ["SEQ(A, NOT N[N.v = 1], NOT M, B)"]),
        ("SEQ(A, B, C)", "A.v + B.v < C.v", ["SEQ(A, B, C) A.v + B.v < C.v"]),
        ("SEQ(A, B)", "A.v < 3 OR B.v < 3", ["SEQ(A, B) A.v < 3 OR B.v < 3"]),
        ("SEQ(A, B)", "[k] AND A.v < B.v", ["SEQ(A, B) A.v < B.v"]),
    ],
)
def test_patterns(pattern: str, where: str, expected: list[str]) -> None:
    assert sorted(told(pattern, where)) == expected


@pytest.mark.parametrize(
    ("pattern", "where", "expected"),
    [
        ("SEQ(A, (SEQ(B, C))+, D)", "B.v < D.v", ["SEQ(A, D)"]),
        ("SEQ(A, B+, C)", "B.v < NEXT(B).v AND A.v < C.v AND A.v < B.v", ["SEQ(A, C) A.v < C.v"]),
        ("SEQ(A, B+, C)", "COUNT(B) < 3", ["SEQ(A, C)"]),
        ("SEQ(A, B+, C)", "FIRST(B).v < C.v", ["SEQ(A, C)"]),
        ("SEQ(A, NOT SEQ(B, C), D)", "", ["SEQ(A, D)"]),
        ("SEQ(A, (NOT B | NOT C), D)", "", ["SEQ(A, D)"]),
        ("SEQ(NOT N, A, B, NOT M)", "N.v < A.v", ["SEQ(A, B)"]),
        ("SEQ(A, (SEQ(B, C))+, NOT N, D, E)", "", ["SEQ(A, D, E)"]),
        ("SEQ(A, (SEQ(B, C))+, D, NOT N, E)", "N.v < B.v", ["SEQ(A, D, E)"]),
        ("SEQ(A, (B | SEQ(C, D)), NOT N, E)", "N.v < B.v", ["SEQ(A, B, NOT N, E) N.v < B.v", "SEQ(A, C, D, NOT N, E)"]),
        ("SEQ(A, (SEQ(B, C))+)", "", []),
        ("A+", "", []),
    ],
)
def test_what_cannot_be_planned_is_left_out(pattern: str, where: str, expected: list[str]) -> None:
    assert sorted(told(pattern, where)) == expected


@pytest.mark.parametrize("semantics", ["skip-till-next-match", "contiguous"])
def test_other_semantics_are_not_planned(semantics: str) -> None:
    assert told("SEQ(A, B, C)", rest=f"SEMANTICS {semantics} WITHIN 10 seconds") == []


def test_clauses_are_numbered() -> None:
    query = "QUERY q RETURN MATCHES PATTERN (SEQ(A, B) | C | SEQ(D, E)) WITHIN 1 minute"
    (checked,) = check_text(query).queries
    assert {number: one.name for number, one in patterns_of(normal_form(checked)).items()} == {0: "q.1", 2: "q.3"}


@pytest.mark.parametrize(
    ("within", "window"),
    [
        ("2 minutes", Window(120.0)),
        ("500 ms", Window(0.5)),
        ("0.25 seconds", Window(0.25)),
        ("40 events", Window(40.0, "events")),
    ],
)
def test_windows(within: str, window: Window) -> None:
    (pattern,) = patterns(f"RETURN MATCHES PATTERN SEQ(A, B) WITHIN {within}")
    assert pattern.window == window
    assert patterns(queries_of([replace(pattern, name="q1")])) == [replace(pattern, name="q1")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x.v < y.v", "y.v > x.v"),
        ("x.v = y.v", "y.v = x.v"),
        ("x.v != y.w", "y.w != x.v"),
        ("x.v < y.v AND x.w < y.w", "y.w > x.w AND x.v < y.v"),
        ("(x.v < y.v OR x.w < y.w)", "(x.w < y.w OR y.v > x.v)"),
        ("x.v < 3 AND x.v > 1", "1 < x.v AND 3 > x.v"),
        ("x.v + y.v < z.v", "z.v > x.v + y.v"),
    ],
)
def test_what_means_the_same_has_the_same_text(one: str, other: str) -> None:
    """Other names of variables, too."""
    text = "RETURN MATCHES PATTERN SEQ(A x, B y, C z) WHERE {} WITHIN 9 seconds"
    (first,), (second,) = patterns(text.format(one)), patterns(text.format(other))
    assert set(first.conditions) == set(second.conditions)
    assert first.events == second.events
    renamed = text.replace("A x, B y", "A y, B x").format(one.replace("x", "?").replace("y", "x").replace("?", "y"))
    (third,) = patterns(renamed)
    assert identity(third) == identity(first)


def identity(pattern: Pattern) -> object:
    shape = shape_of(pattern)
    return shape.identity(shape.whole)[0]


def test_equality_is_symmetric_only_where_both_sides_read_the_same() -> None:
    text = "RETURN MATCHES PATTERN SEQ(A x, A y) WHERE {} WITHIN 9 seconds"
    found = [patterns(text.format(where))[0].conditions for where in ("y.v = x.v", "x.v = y.w", "x.v < y.v")]
    assert found == [
        (Condition(("x", "y"), "$0.v = $1.v", symmetric=True),),
        (Condition(("x", "y"), "$0.v = $1.w"),),
        (Condition(("x", "y"), "$0.v < $1.v"),),
    ]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "parameters",
    [STOCKS, TRAFFIC, replace(STOCKS, varied=True, special=0.8), replace(TRAFFIC, clock="events", window=150.0)],
)
def test_generated_workloads_as_text_are_the_same_patterns(parameters: Parameters, seed: int) -> None:
    made = workload(replace(parameters, patterns=30), seed).patterns
    assert patterns(queries_of(made)) == list(made)


PAIRS = (("$0.v < $1.v", False), ("$0.v = $1.v", True), ("$0.v * 2 < $1.w", False), ("$0.v < 1 OR $1.v < 1", True))
OWN = ("", "", "$0.v > 3", "$0.k = '$1' AND $0.v > 3")
BOUNDS: tuple[tuple[int, int | None], ...] = ((1, None), (2, 3), (1, 2), (3, None))


@st.composite
def written(draw: st.DrawFn) -> Pattern:
    """A pattern of SEQ and AND in each other, with own conditions, lists, NOT, conditions of two or three events."""
    events: list[Event] = []
    before: set[tuple[str, str]] = set()
    _part(draw, draw(st.integers(2, 6)), events, before)
    negated = {event.name for event in events if not event.positive}
    pairs = frozenset(pair for pair in closed(before) if not negated.issuperset(pair))
    return Pattern("p1", tuple(events), pairs, tuple(_conditions(draw, events)), Window(7.5))


def _part(draw: st.DrawFn, size: int, events: list[Event], before: set[tuple[str, str]]) -> list[str]:
    """Add so many positive events, and return their names and those of NOT between them."""
    if size == 1:
        events.append(_event(draw, len(events)))
        return [events[-1].name]
    ordered, first = draw(st.booleans()), draw(st.integers(1, size - 1))
    left = _part(draw, first, events, before)
    absent = ordered and draw(st.integers(0, 3)) == 0
    if absent:
        events.append(Event(f"v{len(events)}", draw(st.sampled_from("ABN")), draw(st.sampled_from(OWN)), Kind.NEGATED))
    middle = [events[-1].name] if absent else []
    right = _part(draw, size - first, events, before)
    if ordered:
        before |= {(x, y) for x in left for y in (*middle, *right)} | {(x, y) for x in middle for y in right}
    return [*left, *middle, *right]


def _event(draw: st.DrawFn, number: int) -> Event:
    kind, own = draw(st.sampled_from("ABC")), draw(st.sampled_from(OWN))
    if draw(st.integers(0, 3)) == 0:
        return Event(f"v{number}", kind, own, Kind.KLEENE, *draw(st.sampled_from(BOUNDS)))
    return Event(f"v{number}", kind, own)


def _conditions(draw: st.DrawFn, events: list[Event]) -> list[Condition]:
    """Draw conditions as they are numbered: the smallest text, then types, then places."""
    found: dict[frozenset[str], Condition] = {}
    for _ in range(draw(st.integers(0, 3))):
        chosen = draw(st.lists(st.sampled_from(events), min_size=2, max_size=3, unique=True))
        if sum(not event.positive for event in chosen) > 1:
            continue
        if len(chosen) == 2:
            text, symmetric = draw(st.sampled_from(PAIRS))
            names = [event.name for event in (sorted(chosen, key=events.index) if symmetric else chosen)]
        else:
            text, symmetric = "$0.v + $1.v < $2.v", False
            added = sorted(sorted(chosen[:2], key=events.index), key=lambda event: event.type)
            names = [*(event.name for event in added), chosen[2].name]
        found[frozenset(names)] = Condition(tuple(names), text, symmetric)
    return list(found.values())


@given(written())
def test_patterns_as_text_are_the_same_patterns(pattern: Pattern) -> None:
    (found,) = patterns(queries_of([pattern]))
    assert replace(found, conditions=()) == replace(pattern, conditions=())
    assert set(found.conditions) == set(pattern.conditions)


def test_a_structure_without_seq_and_and_has_no_text() -> None:
    pairs = frozenset({("a", "c"), ("a", "d"), ("b", "d")})
    pattern = Pattern("p1", tuple(Event(name, name.upper()) for name in "abcd"), pairs, (), Window(5.0))
    with pytest.raises(ValueError, match="cannot be written with SEQ and AND"):
        queries_of([pattern])


def test_names_in_quotes_are_no_variables() -> None:
    assert filled("$0.k = '$1' AND $1.v = 'it''s $7'", ["a", "b"]) == "a.k = '$1' AND b.v = 'it''s $7'"
