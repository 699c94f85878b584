"""The examples whose rows are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "vectors"
CASES: list[dict[str, Any]] = [
    case for kind in ("papers", "random") for case in json.loads((FOLDER / f"{kind}.json").read_text())
]


def name(case: dict[str, Any]) -> str:
    return str(case["name"])
