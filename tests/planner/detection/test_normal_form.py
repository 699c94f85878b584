"""Patterns as clauses: what is bound, in which order, and what has to be clear between."""

from __future__ import annotations

import pytest

from elsinore.planner.detection.normal_form import MOST_CLAUSES, Clause, NormalForm, normal_form
from elsinore.planner.language.parse import parse
from elsinore.planner.language.resolve import resolve


def form_of(pattern: str, rest: str = "") -> NormalForm:
    (query,) = parse(f"RETURN MATCHES PATTERN {pattern} {rest} WITHIN 10 seconds").queries
    return normal_form(resolve(query))


def shown(clause: Clause) -> str:
    """Return a clause as text: elements, their order without what follows from it, and gaps with their guards."""
    direct = {
        (a, b)
        for a, b in clause.order
        if not any((a, c) in clause.order and (c, b) in clause.order for c in range(len(clause.elements)))
    }
    order = " ".join(f"{a}<{b}" for a, b in sorted(direct))
    gaps = " ".join(
        f"{list(gap.after)}-{'|'.join(sorted(','.join(map(str, sorted(way))) for way in gap.ways))}-{list(gap.before)}"
        for gap in clause.gaps
    )
    return "; ".join(filter(None, (", ".join(str(one.pattern) for one in clause.elements), order, gaps)))


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("SEQ(A, B, C)", ["A, B, C; 0<1 1<2"]),
        ("AND(A, B)", ["A, B"]),
        ("SEQ(AND(A, B), C)", ["A, B, C; 0<2 1<2"]),
        ("SEQ(A, AND(B, SEQ(C, D)), E)", ["A, B, C, D, E; 0<1 0<2 1<4 2<3 3<4"]),
        ("SEQ(A, B?, C)", ["A, B, C; 0<1 1<2", "A, C; 0<1"]),
        ("SEQ(A, B*, C)", ["A, B+, C; 0<1 1<2", "A, C; 0<1"]),
        ("(SEQ(A, B) | C)", ["A, B; 0<1", "C"]),
        ("SEQ(A, NOT N, B)", ["A, B; 0<1; [0]-0-[1]"]),
        ("SEQ(NOT N, A, NOT M)", ["A; []-0-[0] [0]-1-[]"]),
        ("SEQ(A, (NOT N | NOT M), B)", ["A, B; 0<1; [0]-0|1-[1]"]),
        ("SEQ(A, NOT N, B?, NOT M, C)", ["A, B, C; 0<1 1<2; [0]-0-[1] [1]-1-[2]", "A, C; 0<1; [0]-0,1-[1]"]),
        ("SEQ(AND(A, B), NOT N, C)", ["A, B, C; 0<2 1<2; [0, 1]-0-[2]"]),
        ("SEQ(A, (SEQ(B, C))+)", ["A, (SEQ(B, C))+; 0<1"]),
    ],
)
def test_clauses(pattern: str, clauses: list[str]) -> None:
    assert sorted(map(shown, form_of(pattern).clauses)) == sorted(clauses)


def test_next_and_contiguous_keep_an_operand_whole() -> None:
    (clause,) = form_of("AND(SEQ(A, B?), C+)", "SEMANTICS skip-till-next-match").clauses
    assert [str(one.pattern) for one in clause.elements] == ["SEQ(A, B?)", "C+"]


def test_conditions_on_absent_variables_constrain_nothing() -> None:
    form = form_of("SEQ(A, B?, C)", "WHERE A.v < B.v AND A.v < C.v AND C.w = 1 AND COUNT(B) < 2")
    found = {len(clause.elements): sorted(str(one.expression) for one in clause.conditions) for clause in form.clauses}
    assert found == {3: ["A.v < B.v", "A.v < C.v", "COUNT(B) < 2"], 2: ["A.v < C.v", "COUNT(B) < 2"]}
    assert [str(one) for one in form.local["C"]] == ["C.w = 1"]


def test_conditions_across_a_not_belong_to_its_guard() -> None:
    form = form_of("SEQ(A, NOT SEQ(N, M), B)", "WHERE N.v < M.v AND N.v < A.v AND A.v < B.v")
    (guard,), (clause,) = form.guards, form.clauses
    assert [str(one.expression) for one in guard.clauses[0].conditions] == ["N.v < M.v", "N.v < A.v"]
    assert guard.outer == {"A"}
    assert [str(one.expression) for one in clause.conditions] == ["A.v < B.v"]


def test_too_many_alternatives_stay_one_chain() -> None:
    optional = ", ".join(f"T{n}?" for n in range(10))
    (clause,) = form_of(f"SEQ(A, {optional})").clauses
    assert len(clause.elements) == 1
    few = ", ".join(f"T{n}?" for n in range(6))
    assert len(form_of(f"SEQ(A, {few})").clauses) == MOST_CLAUSES
