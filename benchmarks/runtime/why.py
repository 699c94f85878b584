"""The time that it takes to explain why a query has no row, beside that of its run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import elsinore
from benchmarks.figures import Figure
from benchmarks.measure import best
from elsinore import Result
from elsinore.connectors.ridesharing import write

LIMIT = 2.0
"""How many times as long as a run an explanation may take."""

RIDES = (100_000, 1_000_000)

TRIPS = "SEQ(Request R, Travel T+, Cancel C)"
TUMBLING = "GROUP-BY district WITHIN 10 minutes SLIDE 10 minutes"

QUESTIONS = {
    "predicate": f"RETURN district, COUNT(*) PATTERN {TRIPS} WHERE [driver, rider] AND T.speed < 0 {TUMBLING}",
    "value": f"RETURN district, COUNT(*) PATTERN {TRIPS} WHERE [driver, rider] AND R.kind = 'pool' {TUMBLING}",
    "type": f"RETURN district, COUNT(*) PATTERN {TRIPS.replace('Cancel', 'Cancle')} WHERE [driver, rider] {TUMBLING}",
    "board": "RETURN district, COUNT(*), SUM(W.duration) PATTERN SEQ(Travel T+, Arrive, Wait W+, Pickup) "
    "WHERE [driver, rider] AND W.speed > 1000 GROUP-BY district WITHIN 4 minutes SLIDE 1 minute",
}
"""By kind of mistake, a query without rows."""


def why(events: int) -> Iterator[Figure]:
    """Measure `result.why()` over files of rides, with kernels compiled; files are read by each run and explanation."""
    with TemporaryDirectory() as folder:
        for count in sorted({min(events, rides) for rides in RIDES}):
            path = Path(folder) / f"{count}.parquet"
            write(path, count)
            yield from (_figure(name, text, path, count) for name, text in QUESTIONS.items())


def _figure(name: str, query: str, path: Path, events: int) -> Figure:
    def run() -> Result:
        return elsinore.run(query, path, engine="local")

    result = run()
    result.why()
    once, asked = best(run, times=7), best(result.why, times=7)
    detail = f"run {1000 * once:.0f} ms, why {1000 * asked:.0f} ms"
    return Figure(f"why-{name}", f"why to run, {events:,} rides", asked / once, LIMIT, "times", detail)
