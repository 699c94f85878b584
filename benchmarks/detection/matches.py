"""Detection of matches: events and matches a second of one core, and against an engine of partial matches.

`python -m benchmarks.detection.matches` prints a line for each pattern. Times are CPU times of this process, so that
neighbours on the machine do not show; the kernels are compiled before.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from elsinore.actors.detection.run import DetectionRun
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock
from tests.actors.detection.partial_matches import Event, PartialMatches

TYPES = 10
MEAN_GAP_MS = 1500
"""Ten uniform types with this mean gap: a window of 90 seconds has six events of each."""

EVENTS, PLAIN_EVENTS = 1_000_000, 20_000
BATCH = 1 << 18


@dataclass(frozen=True)
class Pattern:
    name: str
    where: str
    seconds: int = 90

    @property
    def queries(self) -> tuple[Query, ...]:
        text = f"RETURN MATCHES PATTERN SEQ(A, B, C) {self.where} WITHIN {self.seconds} seconds"
        return check_text(text).queries


PATTERNS = (
    Pattern("no predicate", ""),
    Pattern("A.v < C.v", "WHERE A.v < C.v"),
    Pattern("A.v * 100 < C.v", "WHERE A.v * 100 < C.v"),
    Pattern("10 minutes", "", 600),
)


def stream(events: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return types, times in milliseconds and values."""
    draw = np.random.default_rng(1)
    times = np.cumsum(draw.integers(1, 2 * MEAN_GAP_MS, events))
    return draw.integers(0, TYPES, events).astype(np.int32), times, draw.integers(0, 1000, events)


def batches(events: int) -> Iterator[Batch]:
    codes, times, values = stream(events)
    names = pa.array([chr(ord("A") + code) for code in range(TYPES)])
    for lo in range(0, events, BATCH):
        hi = min(lo + BATCH, events)
        later = int(times[hi]) if hi < events else int(times[-1]) + 1
        types = pa.DictionaryArray.from_arrays(pa.array(codes[lo:hi]), names)
        yield Batch(types, times[lo:hi], {"v": pa.array(values[lo:hi])}, np.zeros(hi - lo, np.int32), later)


def detection(pattern: Pattern) -> Callable[[Batch], int]:
    """Return a function that takes in a batch and returns the number of matches that were handed out."""
    queries = pattern.queries
    clock = Clock.of(pa.int64(), "ms", [query.within.seconds for query in queries])
    run = DetectionRun(queries, clock, Partitions((), 0))
    return lambda batch: sum(len(one) for one in run.process(batch))


def seconds(step: Callable[[], int]) -> tuple[float, int]:
    began = time.process_time()
    found = step()
    return time.process_time() - began, found


def plain_rate(pattern: Pattern) -> float:
    """Return the events a second of the engine of partial matches."""
    codes, times, values = stream(PLAIN_EVENTS)
    names = [chr(ord("A") + code) for code in codes]
    columns = zip(names, times.tolist(), values.tolist(), strict=True)
    events = [Event(name, at, {"v": value}) for name, at, value in columns]
    engine = PartialMatches(pattern.queries[0], pattern.seconds * 1000)
    taken, _ = seconds(lambda: sum(1 for event in events for _ in engine.process(event)))
    return PLAIN_EVENTS / taken


def peak(pattern: Pattern, events: int) -> int:
    """Return the most memory in bytes that Python and NumPy had at once."""
    step = detection(pattern)
    given = list(batches(events))
    tracemalloc.start()
    for batch in given:
        step(batch)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main() -> None:
    for pattern in PATTERNS:
        events = EVENTS if pattern.seconds < 300 else EVENTS // 5
        list(map(detection(pattern), batches(BATCH)))
        given, step = list(batches(events)), detection(pattern)
        taken, found = seconds(lambda step=step, given=given: sum(map(step, given)))  # type: ignore[misc]
        plain = plain_rate(pattern)
        print(
            f"{pattern.name:18} {events / taken / 1e6:6.2f} M events/s {found / taken / 1e6:6.1f} M matches/s "
            f"{found / events:7.2f} matches/event; partial matches {plain / 1e3:6.1f} k events/s: "
            f"{events / taken / plain:5.0f} x"
        )
    few, many = (peak(Pattern("", "", width), EVENTS // 5) for width in (90, 900))
    print(
        f"peak memory, window of 90 s: {few / 2**20:.0f} MiB; of 900 s, 100 times the matches: {many / 2**20:.0f} MiB"
    )


if __name__ == "__main__":
    main()
