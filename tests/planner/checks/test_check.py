"""What is accepted, and how problems are told; `golden` has what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from elsinore.planner.checks.check import check, check_attributes, check_text
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import Place
from tests.vectors import WORKLOAD_TEXTS

SLIDING = "WITHIN 10 minutes SLIDE 5 minutes"


@pytest.mark.parametrize("text", WORKLOAD_TEXTS)
def test_vectors_are_accepted(text: str) -> None:
    assert check(parse(text)) == check_text(text)


@pytest.mark.parametrize(
    "clauses",
    [
        "PATTERN SEQ(A, (NOT C | NOT E), B)",
        "PATTERN SEQ(NOT A, B, NOT C)",
        "PATTERN SEQ(A, (NOT C)+, B)",
        "PATTERN SEQ(A, NOT SEQ(C, D) , B) WHERE C.v < D.v AND C.w > 1",
        "PATTERN SEQ(A+, B) & C+",
        "PATTERN A & B & C",
        "PATTERN SEQ(A{1,1000})",
        "PATTERN (SEQ(A+, B))+ WHERE B.v < A.v AND A.v + 1 < NEXT(A).v * 2 AND NEXT(A).w = A.w",
        "PATTERN SEQ(B, B x+) WHERE x.v < 1",
        "PATTERN A WHERE A.v IN (1, 2.5) AND A.kind NOT IN ('x') AND A.flag AND NOT A.other",
        "PATTERN A WHERE A.v > -9223372036854775808 AND A.v < 9223372036854775807",
        "PATTERN A WHERE A.v BETWEEN A.w AND A.w + 1 OR A.v IS NULL AND A.w % 2 = 0",
        "PATTERN SEQ(A, NOT P) GROUP-BY P.district, A.city",
    ],
)
def test_accepted(clauses: str) -> None:
    check_text(f"RETURN COUNT(*) {clauses} {SLIDING}")


def test_problems_of_syntax_and_meaning_come_together() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A B WITHIN 1 minute; RETURN SUM(X.v) PATTERN A WITHIN 1 minute SLIDE 1 hour"
    with pytest.raises(WorkloadError) as caught:
        check_text(text)
    assert [problem.query for problem in caught.value.problems] == ["q1", "q2", "q2"]
    places = [problem.place for problem in caught.value.problems]
    assert [text[place.start : place.end] for place in places if place] == ["(", "SUM(X.v)", "1 hour"]


def test_an_error_survives_pickling() -> None:
    with pytest.raises(WorkloadError) as caught:
        check_text("RETURN COUNT(*) PATTERN A*")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.problems == caught.value.problems


def test_problems_without_a_place_are_told() -> None:
    assert Problem("it is bad", query="q").show("") == "query q: it is bad"
    assert Problem("it is bad", "do better").show("x") == "it is bad\n   = do better"


def test_blanks_and_line_ends_do_not_move_the_caret() -> None:
    shown = Problem("it is bad", place=Place(5, 9)).show("ab\n\tcdefgh\r\nij")
    assert shown.splitlines() == ["line 2, column 3: it is bad", "  2 |  cdefgh", "    |   ^^^^"]


ATTRIBUTES = {"Request": ["district", "kind"], "Travel": ["district", "speed", "duration"], "Other": ["x"]}


def test_attributes_that_are_there() -> None:
    text = """\
RETURN district, SUM(T.duration)
PATTERN SEQ(Request, Travel T+, Cancel C)
WHERE T.speed < NEXT(T).speed AND C.price < 1
GROUP-BY district
WITHIN 10 minutes"""
    check_attributes(check_text(text), ATTRIBUTES)


def test_attributes_that_are_not_there() -> None:
    text = """\
QUERY trips
RETURN city, SUM(T.durations)
PATTERN SEQ(Request, Travel T+)
WHERE [driver] AND T.kind = 'x' AND T.sped < NEXT(T).speed
GROUP-BY city
WITHIN 10 minutes SLIDE 5 minutes"""
    with pytest.raises(WorkloadError) as caught:
        check_attributes(check_text(text), ATTRIBUTES)
    assert (
        str(caught.value)
        == """\
5 problems in this workload:

query trips, line 2, column 14: no event of type `Travel` has an attribute `durations`
  2 | RETURN city, SUM(T.durations)
    |              ^^^^^^^^^^^^^^^^
    = the attributes are `district`, `duration` and `speed`; did you mean `duration`?

query trips, line 4, column 7: no event of this pattern has an attribute `driver`
  4 | WHERE [driver] AND T.kind = 'x' AND T.sped < NEXT(T).speed
    |       ^^^^^^^^
    = the attributes are `district`, `duration`, `kind` and `speed`

query trips, line 4, column 20: no event of type `Travel` has an attribute `kind`
  4 | WHERE [driver] AND T.kind = 'x' AND T.sped < NEXT(T).speed
    |                    ^^^^^^
    = the attributes are `district`, `duration` and `speed`

query trips, line 4, column 37: no event of type `Travel` has an attribute `sped`
  4 | WHERE [driver] AND T.kind = 'x' AND T.sped < NEXT(T).speed
    |                                     ^^^^^^
    = the attributes are `district`, `duration` and `speed`; did you mean `speed`?

query trips, line 5, column 10: no event of this pattern has an attribute `city`
  5 | GROUP-BY city
    |          ^^^^
    = the attributes are `district`, `duration`, `kind` and `speed`"""
    )


def test_events_without_attributes() -> None:
    with pytest.raises(WorkloadError, match="these events have no attributes at all"):
        check_attributes(check_text(f"RETURN SUM(A.v) PATTERN A {SLIDING}"), {"A": ()})


def test_checking_is_quick_from_the_start() -> None:
    """In a process of its own: imports, grammar and all."""
    program = (
        "import time; t = time.process_time(); from elsinore.planner.checks.check import check_text;"
        "check_text('RETURN COUNT(*) PATTERN A+ WITHIN 1 minute'); print(time.process_time() - t)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout) for _ in "123"
    ]
    assert min(times) < 0.5
