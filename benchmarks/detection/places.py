"""Windows that count events beside the same windows of time, for aggregates and matches, through `elsinore.run`.

`python -m benchmarks.detection.places`: the events are a second apart, so that `WITHIN n EVENTS` and `WITHIN n seconds`
hold the same events, and the rows are the same too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from benchmarks.figures import HEADER, Figure, line
from benchmarks.measure import Numeric, best, run

EVENTS, PARTITIONS, TYPES = 5_000_000, 1000, ("A", "B", "C", "X")
LIMIT = 1.1

COUNTED = "RETURN partition, COUNT(*) PATTERN {pattern} GROUP-BY partition WITHIN {within} {unit} SLIDE {slide} {unit}"
QUERIES = {
    "tumbling": COUNTED.format(pattern="SEQ(A, B+, C)", within=50_000, slide=50_000, unit="{unit}"),
    "sliding": COUNTED.format(pattern="SEQ(A, B+)", within=20_000, slide=5_000, unit="{unit}"),
    "matches": "RETURN MATCHES A.v, C.v PATTERN SEQ(A, B, C) WHERE [partition] WITHIN 5000 {unit}",
}


def stream(events: int) -> pa.Table:
    """Return events a second apart, in equal shares of types and partitions."""
    rng = np.random.default_rng(5)
    codes, partitions = (rng.integers(0, amount, events).astype(np.int32) for amount in (len(TYPES), PARTITIONS))
    types = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(TYPES))
    numbers = np.arange(events)
    return pa.table({"type": types, "time": numbers * 1000, "partition": partitions, "v": numbers})


def figures(events: int = EVENTS) -> Iterator[Figure]:
    table = stream(events)
    for name, text in QUERIES.items():
        numerics: tuple[Numeric, ...] = ("exact",) if name == "matches" else ("exact", "approximate")
        for numeric in numerics:
            time, places = (Windows(text.format(unit=unit), table, numeric) for unit in ("seconds", "events"))
            assert time.rows == places.rows > 0, "windows of time and of events do not give the same rows"
            told = f"time {time.seconds:.2f} s, events {places.seconds:.2f} s"
            what = f"windows of events to the same of time, {name}, {numeric}"
            yield Figure("places", what, places.seconds / time.seconds, LIMIT, "x", told)


@dataclass(frozen=True)
class Windows:
    """A workload over a table."""

    text: str
    table: pa.Table
    numeric: Numeric

    @cached_property
    def rows(self) -> int:
        """Return the rows of the first events; that compiles the kernels."""
        return int(run(self.text, self.table.slice(0, len(self.table) // 20), self.numeric).metrics.rows)

    @cached_property
    def seconds(self) -> float:
        return best(lambda: run(self.text, self.table, self.numeric))


if __name__ == "__main__":
    print(HEADER)
    for figure in figures():
        print(line(figure), flush=True)
