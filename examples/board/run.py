"""Run the workload beside this file over a file of rides, and print what its queries shared."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import elsinore

WORKLOAD = Path(__file__).with_name("workload.elsinore")


def show(rides: str) -> None:
    """Print how many bursts each Kleene sub-pattern had, and which queries shared the longest."""
    bursts = elsinore.run(WORKLOAD, rides, strategy="hamlet", decisions=True).decisions.to_pylist()
    for kleene, count in Counter(burst["kleene"] for burst in bursts).items():
        print(f"{count:,} bursts of {kleene}")
    longest = max(bursts, key=lambda burst: burst["events"])
    print(f"the longest, {longest['events']} events at {longest['time']}: shared by {', '.join(longest['shared'])}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"write: python {sys.argv[0]} rides.parquet")
    try:
        show(sys.argv[1])
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
