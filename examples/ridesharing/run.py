"""Run the workload beside this file over a file of rides, and look at the rows: what a program would do."""

from __future__ import annotations

import sys
from pathlib import Path

import elsinore

WORKLOAD = Path(__file__).with_name("workload.elsinore")

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"write: python {sys.argv[0]} rides.parquet")
    result = elsinore.run(WORKLOAD, sys.argv[1])
    print(result)
    print(f"{result.metrics.events:,} events, {len(result):,} rows")
