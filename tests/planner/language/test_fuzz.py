"""However mangled a workload is: it is checked, or a WorkloadError says why not."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from tests.vectors import WORKLOAD_TEXTS, detection

TEXTS = [*WORKLOAD_TEXTS, *detection.WORKLOAD_TEXTS]

FRAGMENTS = [
    "RETURN", "PATTERN", "SEMANTICS", "WHERE", "GROUP-BY", "GROUP", "WITHIN", "SLIDE", "QUERY", ";", "NOT", "AND",
    "OR", "SEQ", "SEQ(", "(", ")", "[", "]", "{", "}", "{2,3}", "{0}", "+", "*", "?", "|", "&", "!", ",", ".", "-",
    "--", "'", "\"", "<", "=", "!=", "/", "%", "NEXT(", "NEXT(A)", "IN (1, 'x')", "BETWEEN", "IS NULL", "NULL",
    "TRUE", "AS n", "A", "B", "C", "A.v", "x", "x.v", "B x", "COUNT(*)", "SUM(A.v)", "SUM(", "MATCHES", "events",
    "seconds", "0", "-1", "1.5", "1e999", "9223372036854775808", "any", "next", "contiguous", "#", "B#1", "\n", "\r",
    "LIMIT", "LIMIT 3", "FIRST(", "FIRST(A).v", "LAST(A)", "COUNT(A)", "AND(", "SLIDE 1 event", "5 events", "matches,",
    "\t", "\u0000", "\u00e9", "\u2028", "\ud800", "\U0001f642",
]  # fmt: skip


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A workload of the vectors, with some of its words dropped, doubled, swapped or replaced."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        other = draw(st.integers(0, len(text)))
        piece = draw(st.sampled_from(["", " ", text[start:end] * 2, text[other : other + 10], *FRAGMENTS]))
        text = text[:start] + piece + text[end:]
    return text


def survives(text: str) -> None:
    workload = None
    try:
        workload = check_text(text)
    except WorkloadError as refused:
        error = refused
    if workload:
        assert check_text(str(workload)) == workload
        return
    assert error.problems
    assert str(error)
    assert all(problem.hint for problem in error.problems)
    assert all(0 <= p.place.start < p.place.end <= len(text) for p in error.problems if p.place)


@given(mangled())
def test_mangled_workloads(text: str) -> None:
    survives(text)


@given(st.text(max_size=60) | st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(" ".join))
@example("RETURN COUNT(*) PATTERN A WITHIN 1 minute SLIDE")
@example("QUERY")
@example("GROUP BY")
@example("RETURN COUNT(*) PATTERN A WHERE A.v = 1 WITHIN -")
@example("RETURN MATCHES PATTERN A WITHIN 1 minute LIMIT -")
@example("RETURN MATCHES, FIRST(A).v PATTERN A WITHIN 1 minute LIMIT 2.5")
def test_any_text(text: str) -> None:
    survives(text)
