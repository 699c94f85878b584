"""The workloads of the shared vectors."""

from __future__ import annotations

import json
from pathlib import Path

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"

WORKLOAD_TEXTS: list[str] = [
    case["workload"]
    for name in ("papers.json", "random.json")
    for case in json.loads((VECTORS / name).read_text(encoding="utf-8"))
]
