"""The papers' worked examples and the random vectors, through the door."""

from __future__ import annotations

from typing import Any

import pytest

import elsinore
from tests.oracle.compare import Numeric, differences
from tests.vectors import CASES, name


@pytest.mark.parametrize("numeric", ["exact", "approximate"])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_rows_are_those_of_the_vectors(case: dict[str, Any], numeric: Numeric) -> None:
    result = elsinore.run(case["workload"], case["events"], engine="local", numeric=numeric)
    assert differences(case["expected"], result.rows(), numeric) == []
