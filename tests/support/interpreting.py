"""Run the vectors on a machine without machine code: `python -m tests.support.interpreting`.

Prints the cases with wrong rows, the number of kernels that were compiled, and the number of cases as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from math import inf
from typing import Any

import elsinore
from elsinore.planner.kernels import interpreted
from elsinore.planner.kernels.compiled import kernels_compiled
from tests.oracle.compare import differences
from tests.vectors import CASES
from tests.vectors.detection import CASES as DETECTION
from tests.vectors.detection import OTHERS, multiset, numbered

MATCHED = [case for case in (*DETECTION, *OTHERS) if len(case["events"]) <= 100]
"""Cases of detection with few events; those of longer streams are compiled."""


def wrong() -> Iterator[str]:
    for case in CASES:
        for numeric in ("exact", "approximate"):
            result = elsinore.run(case["workload"], case["events"], engine="local", numeric=numeric)
            if differences(case["expected"], result.rows(), numeric):
                yield f"{case['name']} {numeric}"


def wrong_matches() -> Iterator[str]:
    for case in MATCHED:
        events = {event["id"]: event for event in case["events"]}
        rows: list[Any] = elsinore.run(case["workload"], case["events"], engine="local").rows()
        if multiset(numbered(row, events) for row in rows) != multiset(case["expected"]):
            yield str(case["name"])


if __name__ == "__main__":
    interpreted.COMPILE_SECONDS = inf
    cases = 2 * len(CASES) + len(MATCHED)
    sys.stdout.write(json.dumps([[*wrong(), *wrong_matches()], kernels_compiled(), cases]))
