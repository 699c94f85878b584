"""The rate of an embedded live stream over the same events and workload: `python -m loadtest.embedded EVENTS DIR`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

import pyarrow.parquet as pq

import elsinore
from loadtest.stream import BATCH, WORKLOAD, appends

PATIENCE = 300.0


def rate(events: int, folder: Path) -> float:
    """Return events a second, over files of as many events as an append has. One file goes first as a warm-up."""
    coming = folder / "in"
    coming.mkdir(parents=True)
    number = -(-events // BATCH)
    drafts = [coming / f".{place:05}.parquet" for place in range(number + 1)]
    for draft, rides in zip(drafts, appends(0), strict=False):
        pq.write_table(rides, draft, compression="zstd")
    _come(drafts[:1])
    with elsinore.stream(WORKLOAD, coming, folder / "out.parquet", checkpoint=folder / "checkpoint") as live:
        _until_taken(live, BATCH)
        started_at = perf_counter()
        _come(drafts[1:])
        _until_taken(live, BATCH * (number + 1))
        return BATCH * number / (perf_counter() - started_at)


def _come(drafts: list[Path]) -> None:
    for draft in drafts:
        draft.rename(draft.with_name(draft.name[1:]))


def _until_taken(live: elsinore.LiveStream, events: int) -> None:
    give_up = perf_counter() + PATIENCE
    while live.metrics.events < events:
        if perf_counter() > give_up or live.wait(0.02):
            raise SystemExit(f"the embedded stream took {live.metrics.events:,} of {events:,} events")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(rate(int(sys.argv[1]), Path(sys.argv[2]))))
