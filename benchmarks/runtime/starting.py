"""The time until a command has done its work: whole processes, including the interpreter's own start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure
from benchmarks.measure import command

FIRST_QUERY = """
import elsinore
query = "RETURN COUNT(*), SUM(T.v) PATTERN SEQ(Request R, Travel T+) GROUP-BY place WITHIN 9 seconds SLIDE 3 seconds"
kinds = ["Request", "Travel", "Travel", "Travel", "Cancel"]
events = [{"type": kind, "time": time, "place": "a", "v": time} for time, kind in enumerate(kinds)]
assert elsinore.run(query, events).rows()
"""

FIRST_ON_RAY = FIRST_QUERY.replace("events)", 'events, engine="ray")')

WORKLOAD = "examples/ridesharing/workload.elsinore"


def starting(_events: int) -> Iterator[Figure]:
    bare = command([sys.executable, "-c", "pass"])
    detail = f"Python alone {bare:.3f} s"
    yield Figure("import", "import elsinore", command([sys.executable, "-c", "import elsinore"]), 0.3, "s", detail)
    checking = command([sys.executable, "-m", "elsinore", "check", WORKLOAD])
    with TemporaryDirectory() as empty:
        first = command(["env", f"XDG_CACHE_HOME={empty}", sys.executable, "-c", FIRST_QUERY])
    yield Figure("first", "a first query over five events, without compiled kernels", first, 4, "s", detail)
    ray = command([sys.executable, "-c", FIRST_ON_RAY])
    yield Figure(
        "first-on-ray", "the same on Spark and Ray, with compiled kernels, until both have ended", ray, 12, "s"
    )
    yield Figure("check", f"elsinore check {WORKLOAD}", checking, 1, "s", detail)
