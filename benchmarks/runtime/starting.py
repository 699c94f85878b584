"""The time until a command has done its work: whole processes, including the interpreter's own start."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.measure import command

WORKLOAD = "examples/ridesharing/workload.elsinore"


def starting(_events: int) -> Iterator[Figure]:
    bare = command([sys.executable, "-c", "pass"])
    detail = f"Python alone {bare:.3f} s"
    yield Figure("import", "import elsinore", command([sys.executable, "-c", "import elsinore"]), 0.3, "s", detail)
    checking = command([sys.executable, "-m", "elsinore", "check", WORKLOAD])
    yield Figure("check", f"elsinore check {WORKLOAD}", checking, 1, "s", detail)
