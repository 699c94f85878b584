"""Comparisons are exact for every kind of value, and what 64 bits cannot hold is not rounded."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from elsinore.planner.language.errors import WorkloadError
from tests.actors.detection.support import run

BIG = 2**53
WIDE = 2**62


def pairs(where: str, first: list[Any], second: list[Any], semantics: str = "any", pattern: str = "SEQ(A, B)") -> Any:
    """Return which of the A events match which of the B events that come after all of them."""
    events = [{"id": f"a{n}", "type": "A", "time": n, "v": value} for n, value in enumerate(first)]
    later = len(first)
    events += [{"id": f"b{n}", "type": "B", "time": later + n, "v": value} for n, value in enumerate(second)]
    text = f"RETURN MATCHES PATTERN {pattern} SEMANTICS {semantics} WHERE {where} WITHIN 1000 seconds"
    return [(row["A"], row["B"]) for row in run(text, events)]


@pytest.mark.parametrize("operator", ["<", "<=", "=", "!=", ">", ">="])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, None, 3], [2, 3, None]),
        ([BIG, BIG + 1], [BIG + 1, BIG + 2]),
        ([2**63 - 1, -(2**63), None], [2**63 - 1, -(2**63), None]),
        ([0.5, -0.0, 1.0, None], [0.0, 0.5, 1.0]),
        (["b", "a", None], ["b", "ab", "é"]),
        ([datetime(2020, 1, 1), None], [datetime(2020, 1, 1), datetime(2021, 1, 1)]),
        ([True, False], [True, False]),
    ],
)
def test_comparisons(operator: str, first: list[Any], second: list[Any]) -> None:
    compare = {"=": "==", "!=": "!="}.get(operator, operator)
    expected = {
        (f"a{n}", f"b{m}")
        for n, a in enumerate(first)
        for m, b in enumerate(second)
        if a is not None and b is not None and eval(f"a {compare} b")
    }
    assert set(pairs(f"A.v {operator} B.v", first, second)) == expected


def test_integers_and_floats_beyond_the_floats() -> None:
    events = [
        {"id": 1, "type": "A", "time": 1, "v": BIG + 1, "w": None},
        {"id": 2, "type": "B", "time": 2, "v": None, "w": float(BIG)},
        {"id": 3, "type": "B", "time": 3, "v": None, "w": float(BIG + 2)},
    ]
    rows = run("RETURN MATCHES PATTERN SEQ(A, B) WHERE A.v < B.w WITHIN 9 seconds", events)
    assert [row["B"] for row in rows] == [3]


@pytest.mark.parametrize("semantics", ["any", "contiguous"])
def test_sums_beyond_64_bits_are_decided_with_whole_numbers(semantics: str) -> None:
    found = pairs("A.v + B.v > A.v * 2 - 1", [WIDE + 1], [WIDE + 1, WIDE + 2], semantics)
    assert found == ([("a0", "b0"), ("a0", "b1")] if semantics == "any" else [("a0", "b0")])


def test_next_refuses_sums_beyond_64_bits() -> None:
    with pytest.raises(WorkloadError, match="fit 64 bits"):
        pairs("A.v + B.v > A.v * 2", [WIDE + 1], [WIDE + 1], "next")


def test_texts_and_numbers_do_not_compare() -> None:
    events = [{"id": 1, "type": "A", "time": 1, "v": 1, "w": "x"}, {"id": 2, "type": "B", "time": 2, "v": 1, "w": "x"}]
    with pytest.raises(WorkloadError, match="numbers with texts"):
        run("RETURN MATCHES PATTERN SEQ(A, B) WHERE A.v < B.w WITHIN 9 seconds", events)


def test_summaries_of_large_integers() -> None:
    events = [{"id": n, "type": "A", "time": n, "v": WIDE} for n in range(4)]
    rows = run("RETURN MATCHES COUNT(A) AS n, SUM(A.v) AS s PATTERN A{4} WITHIN 9 seconds", events)
    assert [(row["n"], int(row["s"])) for row in rows] == [(4, 4 * WIDE)]
