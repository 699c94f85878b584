"""Run the workload beside this file over a file of rides, and look at the rows: as a program would."""

from __future__ import annotations

import sys
from pathlib import Path

import elsinore

WORKLOAD = Path(__file__).with_name("workload.elsinore")


def saved(result: elsinore.Result) -> str:
    """Return the gain of sharing: a burst that several queries share is processed once, not by each of them."""
    bursts = result.decisions.select(["events", "choice", "shared", "apart"]).to_pylist()
    alone = sum(burst["events"] * (len(burst["shared"]) + len(burst["apart"])) for burst in bursts)
    taken = sum(burst["events"] * (bool(burst["shared"]) + len(burst["apart"])) for burst in bursts)
    return f"{len(bursts):,} bursts: {taken:,} events processed, {alone:,} if no query shared its work"


def show(rides: str) -> None:
    """Print the rows over a file of rides, and what sharing saved."""
    result = elsinore.run(WORKLOAD, rides, decisions=True, progress=sys.stderr.isatty())
    print(result)
    print(f"{result.metrics.events:,} events, {len(result):,} rows")
    print(saved(result))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"write: python {sys.argv[0]} rides.parquet")
    try:
        show(sys.argv[1])
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
