"""The cases of detection, whole and cut into batches, with the state saved and restored between them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actors.detection.support import multiset, run
from tests.vectors import name
from tests.vectors.detection import CASES, OTHERS

DETECTING = [case for case in (*CASES, *OTHERS) if "aggregate" not in case.get("tags", ())]


@pytest.mark.parametrize("case", DETECTING, ids=name)
def test_the_rows_of_the_vectors(case: dict[str, Any]) -> None:
    assert multiset(run(case["workload"], case["events"])) == multiset(case["expected"])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("case", DETECTING, ids=name)
def test_batches_and_checkpoints_never_show(case: dict[str, Any]) -> None:
    if len(case["events"]) <= 100:
        cuts = [event["time"] for event in case["events"]]
        assert multiset(run(case["workload"], case["events"], cuts, save=True)) == multiset(case["expected"])
