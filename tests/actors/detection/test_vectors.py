"""The cases of detection, whole and cut into batches, with the state saved and restored between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from tests.actors.detection.support import Row, run
from tests.vectors import name
from tests.vectors.detection import CASES, OTHERS

DETECTING = [case for case in (*CASES, *OTHERS) if "aggregate" not in case.get("tags", ())]


def plain(value: Any) -> Any:
    """Return a value with its numbers as floats, so that equal rows are equal texts."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return float(value) if isinstance(value, int | float | Fraction) else value


def shown(row: Row) -> str:
    return repr(sorted((name, plain(value)) for name, value in row.items()))


def multiset(rows: Iterable[Row]) -> Counter[str]:
    return Counter(map(shown, rows))


@pytest.mark.parametrize("case", DETECTING, ids=name)
def test_the_rows_of_the_vectors(case: dict[str, Any]) -> None:
    assert multiset(run(case["workload"], case["events"])) == multiset(case["expected"])


@pytest.mark.parametrize("case", DETECTING, ids=name)
def test_batches_and_checkpoints_never_show(case: dict[str, Any]) -> None:
    if len(case["events"]) <= 100:
        cuts = [event["time"] for event in case["events"]]
        assert multiset(run(case["workload"], case["events"], cuts, save=True)) == multiset(case["expected"])
