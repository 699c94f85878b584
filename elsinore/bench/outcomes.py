"""Measurement of points one by one, each in a process of its own with a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from elsinore.bench import ONE_CORE
from elsinore.bench.points import Metrics, Point

Status = Literal["measured", "refused", "timeout", "failed", "missing"]
"""`missing`: never run, as the run of all figures was stopped before."""


@dataclass(frozen=True)
class Outcome:
    """The measurement of a point, or the reason why there is none."""

    point: Point
    status: Status
    metrics: Metrics = field(default_factory=dict)
    why: str = ""

    def document(self) -> dict[str, Any]:
        return asdict(self.point) | {"status": self.status} | self.metrics | ({"why": self.why} if self.why else {})


BUSY = 20
"""How many times its processor time a point may take, on a machine that does other things too."""

POLL_SECONDS = 0.5


def outcome(point: Point, limit: float) -> Outcome:
    """Measure a point within `limit` seconds of processor time, including the generation of its stream or workload.

    The time is looked at from outside. A limit that the system enforces would make the clock of the process itself as
    coarse as the system's ticks.
    """
    words = [sys.executable, "-m", "elsinore.bench", type(point).__name__, json.dumps(asdict(point))]
    child = subprocess.Popen(
        words, env=os.environ | ONE_CORE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        return _result(child, point, limit)
    finally:
        child.kill()
        child.wait()


def _result(child: subprocess.Popen[str], point: Point, limit: float) -> Outcome:
    end = monotonic() + BUSY * limit
    while True:
        try:
            out, err = child.communicate(timeout=POLL_SECONDS)
        except subprocess.TimeoutExpired:
            if processor_seconds(child.pid) > limit:
                return Outcome(point, "timeout", why=f"stopped after {limit:g} seconds of processor time")
            if monotonic() > end:
                return Outcome(point, "timeout", why=f"stopped after {BUSY * limit:g} seconds")
        else:
            break
    if child.returncode:
        last = (err.strip().splitlines() or [f"exit code {child.returncode}"])[-1]
        return Outcome(point, "failed", why=last)
    result = json.loads(out)
    return Outcome(point, result["status"], result["metrics"], result["why"])


def processor_seconds(process: int) -> float:
    """Return the processor time of a process; 0 on a system without /proc."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0
