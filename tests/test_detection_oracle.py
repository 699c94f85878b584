"""The judge of detection is judged: by cases counted by hand, by random ones, and by what other systems return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from tests.oracle.answer import answer
from tests.oracle.compare import differences
from tests.oracle.detection import matches, numbered
from tests.oracle.query import text_of
from tests.oracle.read import read
from tests.vectors import name
from tests.vectors.detection import CASES, OTHERS


def multiset(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("case", [*CASES, *OTHERS], ids=name)
def test_the_judge_gives_the_rows_of_the_vectors(case: dict[str, Any]) -> None:
    queries = read(case["workload"])
    aggregated = {query.name for query in queries if not query.detects}
    expected = [row for row in case["expected"] if row["query"] not in aggregated]
    found = matches([query for query in queries if query.detects], case["events"])
    assert multiset(numbered(found)) == multiset(expected)
    counted = answer([query for query in queries if not query.detects], case["events"])
    assert differences([row for row in case["expected"] if row["query"] in aggregated], counted, "exact") == []


@pytest.mark.parametrize("case", [*CASES, *OTHERS], ids=name)
def test_queries_print_as_they_were_read(case: dict[str, Any]) -> None:
    queries = read(case["workload"])
    assert read(text_of(queries)) == queries
