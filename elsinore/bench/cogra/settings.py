"""Streams with their queries, as close to those of COGRA's evaluation as possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa

from elsinore.bench.cogra.streams import COMPANIES, PEOPLE, STAGES, activities, falling, trades, trips
from elsinore.bench.setting import Setting

WINDOWS = "WITHIN 1 minute SLIDE 1 minute"
ANY, NEXT, CONTIGUOUS = "skip-till-any-match", "skip-till-next-match", "contiguous"


def q2(semantics: str) -> str:
    return (
        "RETURN district, COUNT(*), AVG(T.speed) PATTERN SEQ(Pickup P, Trip T+, Dropoff D) "
        f"SEMANTICS {semantics} WHERE [driver, rider, district] GROUP-BY district {WINDOWS}"
    )


def q3() -> str:
    return f"RETURN sector, COUNT(*) PATTERN Stock S+ SEMANTICS {ANY} WHERE [company, sector] GROUP-BY sector {WINDOWS}"


def q4(semantics: str) -> str:
    return (
        f"RETURN person, COUNT(*) PATTERN SEQ(Activity S, Activity A+, Activity F) SEMANTICS {semantics} "
        "WHERE [person] AND S.heart < 60 AND A.activity = 'lying' AND F.heart > 100 "
        f"GROUP-BY person {WINDOWS}"
    )


def setting(name: str, stream: str, events: Callable[[int, float], pa.Table], query: str, minutes: int = 2) -> Setting:
    """Return a setting of one query, over windows of a minute."""
    what = f"{stream}; one query, {query}"
    return Setting(name, what, events, lambda _: query, minutes, pane=1, time_unit="us", numeric="approximate")


def of_people(semantics: str, slow: float, passive: float, fast: float) -> Setting:
    shares = {"slow": slow, "passive": passive, "fast": fast}
    said = ", ".join(f"{100 * share:g}% {name}" for name, share in shares.items())
    stream = f"a made-up stream of reports of {PEOPLE} people, {said}, and others that the query does not take"
    return setting(f"Physical activity, {semantics}", stream, partial(activities, shares=shares), q4(semantics))


PEOPLE_ANY = of_people(ANY, slow=0.003, passive=0.005, fast=0.003)
PEOPLE_NEXT = of_people(NEXT, slow=0.05, passive=0.6, fast=0.0005)
PEOPLE_CONTIGUOUS = of_people(CONTIGUOUS, slow=0.05, passive=0.85, fast=0.05)

TRADES = f"a made-up stream of transactions of {COMPANIES:,} companies, by turns of chance"
STOCK = setting("Stock trades", TRADES, trades, q3())
STOCK_HIGH = setting("Stock trades, high rate", TRADES, trades, q3(), minutes=1)

PAIRS = 200
"""Pairs of a driver and a rider in a district."""
POOLED, PLAIN = (0.05, 0.85, 0.0005, 0.0995), (0.15, 0.6, 0.15, 0.1)
"""Shares of the stages of trips: with many pickups before a dropoff, and with as many of either."""
GROUPED = (0.15, 0.7, 0.15, 0.0)


def of_trips(semantics: str, shares: tuple[float, ...]) -> Setting:
    said = ", ".join(f"{100 * share:g}% {stage}" for stage, share in zip(STAGES, shares, strict=True))
    stream = f"a made-up stream of events of trips ({said}), 50 pairs of a driver and a rider"
    events = partial(trips, shares=shares, districts=5, pairs=10)
    return setting(f"Uber, {semantics}", stream, events, q2(semantics), minutes=1)


TRIPS_NEXT, TRIPS_CONTIGUOUS = of_trips(NEXT, POOLED), of_trips(CONTIGUOUS, PLAIN)

GROUPS = setting(
    "Uber, groups",
    f"a made-up stream of pickups (15%), trips (70%) and dropoffs (15%), {PAIRS} pairs of a driver and a rider in a "
    "district",
    partial(trips, shares=GROUPED, districts=30, pairs=PAIRS),
    q2(ANY),
)
SELECTIVE = setting(
    "Stock trades, selectivity",
    f"a made-up stream of purchases (65%) and sales of {COMPANIES:,} companies, prices that drift",
    partial(falling, percent=50),
    f"RETURN COUNT(*) PATTERN SEQ(Buy B+, Sell S) SEMANTICS {ANY} "
    f"WHERE [company] AND B.price > NEXT(B).price {WINDOWS}",
)

SETTINGS = (
    *(PEOPLE_ANY, PEOPLE_NEXT, PEOPLE_CONTIGUOUS, STOCK, STOCK_HIGH),
    *(TRIPS_NEXT, TRIPS_CONTIGUOUS, GROUPS, SELECTIVE),
)
