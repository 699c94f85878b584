"""How fast the embedded live stream is, over the same events and workload: `python -m loadtest.embedded EVENTS DIR`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, sleep

import pyarrow.parquet as pq

import elsinore
from loadtest.stream import BATCH, WORKLOAD, appends

PATIENCE = 300.0


def put(folder: Path, events: int) -> int:
    """Files of as many events as an append has; returns how many there are in all."""
    folder.mkdir(parents=True)
    number = -(-events // BATCH)
    for place, rides in zip(range(number), appends(0), strict=False):
        pq.write_table(rides, folder / f"{place:05}.parquet", compression="zstd")
    return number * BATCH


def rate(events: int, folder: Path) -> float:
    """Events a second, from the first batch that is done to the last."""
    total = put(folder / "in", events)
    live = elsinore.stream(WORKLOAD, folder / "in", folder / "out.parquet", checkpoint=folder / "checkpoint")
    with live:
        seen, begun, give_up = 0, perf_counter(), perf_counter() + PATIENCE
        first = 0
        while seen < total and perf_counter() < give_up:
            sleep(0.02)
            seen = live.metrics.events
            if not first and seen:
                first, begun = seen, perf_counter()
        if seen < total:
            raise SystemExit(f"the embedded stream took {seen:,} of {total:,} events in {PATIENCE:.0f} seconds")
        seconds = perf_counter() - begun
    return (total - first) / seconds


if __name__ == "__main__":
    sys.stdout.write(json.dumps(rate(int(sys.argv[1]), Path(sys.argv[2]))))
