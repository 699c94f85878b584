"""The judge itself is judged: by the papers' numbers, by the random vectors, and by cases worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import TwoBindingsError, answer
from tests.oracle.compare import differences
from tests.oracle.enumerate import Scene
from tests.oracle.expressions import Predicates
from tests.oracle.grow import NEEDED, typed
from tests.oracle.query import Absent, Aggregate, And, One, Or, Pattern, Query, Repeat, Seq, text_of
from tests.oracle.read import read
from tests.support.generated import fresh
from tests.vectors import CASES, name

A, B, C, D, E = (One(letter, letter) for letter in "ABCDE")
COUNT = (Aggregate("COUNT"),)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_the_judge_gives_the_rows_of_the_vectors(case: dict[str, Any]) -> None:
    queries = read(case["workload"])
    assert differences(case["expected"], answer(queries, case["events"]), "exact") == []


@pytest.mark.parametrize("case", CASES, ids=name)
def test_queries_print_as_they_were_read(case: dict[str, Any]) -> None:
    queries = read(case["workload"])
    assert read(text_of(queries)) == queries


def stream(text: str) -> list[dict[str, Any]]:
    """`A1 B2`: types and times."""
    return [{"type": word[0], "time": int(word[1:])} for word in text.split()]


def plus(part: Pattern) -> Repeat:
    return Repeat(part, 1, None)


def option(part: Pattern) -> Repeat:
    return Repeat(part, 0, 1)


def no(part: Pattern) -> Absent:
    return Absent(part)


def seq(*parts: Pattern) -> Seq:
    return Seq(parts)


A1, A2 = One("A", "a1"), One("A", "a2")

BY_HAND: dict[str, tuple[Pattern, str, int]] = {
    # A gap that can be crossed in two ways is closed only when both are.
    "one of two negations": (seq(A, Or((no(C), no(E))), B), "A1 C2 B3", 1),
    "both of two negations": (seq(A, Or((no(C), no(E))), B), "A1 C2 E3 B4", 0),
    "a negation or an event": (seq(A, Or((no(C), D)), B), "A1 C2 D3 B4", 1),
    # When a neighbour is absent, the gap reaches to the next event there is.
    "option behind a gap, absent": (seq(A, no(C), option(B), D), "A1 C2 D3", 0),
    "option behind a gap, there": (seq(A, no(C), option(B), D), "A1 B2 C3 D4", 1),
    "option before a gap, absent": (seq(A, option(B), no(C), D), "A1 C2 D3", 0),
    "option before a gap, there": (seq(A, option(B), no(C), D), "A1 C2 B3 D4", 1),
    "option at the end, absent": (seq(A, no(C), option(B)), "A1 C2 B3", 0),
    "option at the end, there": (seq(A, no(C), option(B)), "A1 B2 C3", 1),
    "two gaps around an option": (seq(A, no(C), option(B), no(E), D), "A1 C2 B3 D4 E5", 0),
    # At the start the gap runs from the window's start, at the end to its end.
    "at the start": (seq(no(C), A), "C0 A1", 0),
    "at the start, at the same time": (seq(no(C), A), "C1 A1", 1),
    "at the end": (seq(A, no(C)), "A1 C9", 0),
    "at the end, at the same time": (seq(A, no(C)), "A1 C1", 1),
    "in a loop": (plus(seq(A, no(C))), "A1 C2 A3", 1),
    "before a loop's rounds": (plus(seq(no(C), A)), "A1 C2 A3", 1),
    # Negated sub-patterns of any form, strictly inside the gap.
    "negated sequence": (seq(A, no(seq(C, D)), B), "A1 C2 D3 B4", 0),
    "negated sequence, the other way round": (seq(A, no(seq(C, D)), B), "A1 D2 C3 B4", 1),
    "negated sequence, half in the gap": (seq(A, no(seq(C, D)), B), "C0 A1 D2 B3", 1),
    "negated alternative": (seq(A, no(Or((C, D))), B), "A1 D2 B3", 0),
    "negated loop": (seq(A, no(Repeat(C, 2, None)), B), "A1 C2 B3 C4 B5", 1),
    # One sequence of events is one trend, however it is bound.
    "two loops": (seq(plus(A1), plus(A2)), "A1 A2 A3", 4),
    "alternatives of one type": (Or((A1, A2)), "A1 A2", 2),
    "equal times never follow": (plus(A), "A1 A1 A2", 5),
    "bounded": (Repeat(A, 2, 3), "A1 A2 A3 A4", 10),
    # AND: pairs of trends; those of one kind in no order.
    "and": (And((plus(A), B)), "A1 A2 B3 B4", 6),
    "and, one kind": (And((A1, A2)), "A1 A2 A3", 3),
    "and, overlapping": (And((plus(A1), A2)), "A1 A2", 3),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_skip_till_any_match_by_hand(case: str) -> None:
    pattern, events, expected = BY_HAND[case]
    assert counted(pattern, events) == expected


@pytest.mark.parametrize(
    ("semantics", "events", "expected"),
    [
        # The a at 1 is followed by both of those at 2, and no more by that at 3.
        ("skip-till-next-match", "A1 A2 A2 A3", 10),
        ("contiguous", "A1 A2 A2 A3", 10),
        ("skip-till-next-match", "A1 X2 A3", 3),
        ("contiguous", "A1 X2 A3", 2),
        ("contiguous", "A1 X1 A3", 3),
    ],
)
def test_other_semantics_by_hand(semantics: str, events: str, expected: int) -> None:
    assert counted(plus(A), events, semantics) == expected


def counted(pattern: Pattern, events: str, semantics: str = "skip-till-any-match") -> int:
    query = Query("q", COUNT, pattern, Fraction(10), Fraction(10), semantics)
    rows = answer([query], stream(events))
    assert len(rows) <= 1
    return sum(row["COUNT(*)"] for row in rows)


def test_a_null_drops_an_event_from_a_query_that_splits_by_it() -> None:
    events = [{"type": kind, "time": n, "h": h} for n, (kind, h) in enumerate([("A", 1), ("C", None), ("B", 1)])]
    gap = Query("q", COUNT, seq(A, no(C), B), Fraction(10), Fraction(10), equivalence=("h",))
    assert [row["COUNT(*)"] for row in answer([gap], events)] == [1]


def test_rows_of_partitions_are_merged_in_their_group() -> None:
    events: list[Mapping[str, Any]] = [{"type": "A", "time": n, "g": "p", "h": n % 2, "v": n} for n in range(4)]
    items = (*COUNT, Aggregate("SUM", "A", "v"), Aggregate("AVG", "A", "v"), Aggregate("MAX", "A", "w"))
    query = Query("q", items, plus(A), Fraction(10), Fraction(10), groups=("g",), equivalence=("h",))
    assert answer([query], events) == [
        {"query": "q", "window_start": 0, "window_end": 10, "g": "p",
         "COUNT(*)": 6, "SUM(A.v)": 12, "AVG(A.v)": Fraction(3, 2), "MAX(A.w)": None}
    ]  # fmt: skip


def test_windows_start_at_every_multiple_of_the_slide() -> None:
    query = Query("q", COUNT, A, Fraction(5), Fraction(2))
    rows = answer([query], stream("A-1 A2"))
    assert [(row["window_start"], row["COUNT(*)"]) for row in rows] == [(-4, 1), (-2, 2), (0, 1), (2, 1)]


def test_a_window_moves_with_events_that_can_end_a_trend() -> None:
    query = Query("q", COUNT, seq(A, B), Fraction(3))
    rows = answer([query], stream("A1 B2 A3 B3 B9"))
    assert [(row["window_start"], row["window_end"], row["COUNT(*)"]) for row in rows] == [(-1, 2, 1), (0, 3, 2)]


def test_ambiguity() -> None:
    twice = seq(plus(A1), plus(A2))
    named = Query("q", (Aggregate("COUNT", "a1"),), twice, Fraction(10), Fraction(10))
    assert ambiguous(named)
    assert not ambiguous(Query("q", COUNT, twice, Fraction(10), Fraction(10)))
    assert not ambiguous(Query("q", (Aggregate("COUNT", "a1"),), seq(A1, B, A2), Fraction(10), Fraction(10)))
    assert not ambiguous(Query("q", (Aggregate("COUNT", "A"),), plus(Repeat(A, 1, 2)), Fraction(10), Fraction(10)))
    with pytest.raises(TwoBindingsError):
        answer([named], stream("A1 A2 A3"))


@given(NEEDED.flatmap(lambda shape: typed(shape, "AB")), st.text("AB", max_size=7))
@fresh(100)
def test_trends_are_the_subsequences_that_a_regular_expression_matches(pattern: Pattern, text: str) -> None:
    events = [{"type": kind, "time": n} for n, kind in enumerate(text)]
    chains = [chain for n in range(1, len(text) + 1) for chain in combinations(range(len(text)), n)]
    matched = {chain for chain in chains if re.fullmatch(expression(pattern), "".join(text[n] for n in chain))}
    assert set(Scene(events, Predicates({}, [])).trends(pattern)) == matched


def expression(pattern: Pattern) -> str:
    match pattern:
        case One(kind):
            return kind
        case Repeat(part, least, most):
            return f"(?:{expression(part)}){{{least},{'' if most is None else most}}}"
        case Seq(parts):
            return "".join(map(expression, parts))
        case Or(parts):
            return f"(?:{'|'.join(map(expression, parts))})"
    raise AssertionError(pattern)
