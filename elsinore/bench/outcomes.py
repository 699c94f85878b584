"""Measurement of points one by one, each in a process of its own with a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from elsinore.bench import ONE_CORE
from elsinore.bench.points import Metrics, Point

Status = Literal["measured", "refused", "timeout", "failed"]


@dataclass(frozen=True)
class Outcome:
    """The measurement of a point, or the reason why there is none."""

    point: Point
    status: Status
    metrics: Metrics = field(default_factory=dict)
    why: str = ""

    def document(self) -> dict[str, Any]:
        return asdict(self.point) | {"status": self.status} | self.metrics | ({"why": self.why} if self.why else {})


def outcome(point: Point, limit: float) -> Outcome:
    """Measure a point within `limit` seconds, including the generation of its stream or workload."""
    words = [sys.executable, "-m", "elsinore.bench", type(point).__name__, json.dumps(asdict(point))]
    try:
        done = subprocess.run(
            words, env=os.environ | ONE_CORE, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(point, "timeout", why=f"stopped after {limit:g} seconds")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Outcome(point, "failed", why=last)
    result = json.loads(done.stdout)
    return Outcome(point, result["status"], result["metrics"], result["why"])
