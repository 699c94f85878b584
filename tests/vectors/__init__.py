"""Read the cases whose rows are known: the papers' worked examples, and random workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case for kind in ("papers", "random") for case in json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
]
WORKLOAD_TEXTS: list[str] = [case["workload"] for case in CASES]


def name(case: dict[str, Any]) -> str:
    """Return the name of a case, which pytest shows."""
    return str(case["name"])
