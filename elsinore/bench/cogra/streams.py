"""Made-up streams with the parameters of COGRA's data sets (Section 8.1).

A minute is a window: `rate` is the number of events of a window. Times are microseconds, so that hardly two events of a
partition are at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

MINUTE_US = 60_000_000
PEOPLE, ACTIVITIES = 14, 18
"""People and activities of the physical activity data."""
COMPANIES = 3_000
"""Companies of the stock data, of which the paper says that they are more than 3,000."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def times(events: int, rate: float) -> Ints:
    return (np.arange(events) * (MINUTE_US / rate)).astype(np.int64)


def named(names: list[str], codes: npt.NDArray[np.integer]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names))


def activities(events: int, rate: float, shares: Mapping[str, float], seed: int = 17) -> pa.Table:
    """Return reports of physical activities of 14 people.

    `shares` has the shares of reports that q4 takes: `slow` ones with a heart rate below 60, `passive` ones, and `fast`
    ones with a heart rate above 100. All other reports are of activities that are not passive, with rates in between.
    """
    random = np.random.default_rng(seed)
    share = np.array([shares["slow"], shares["passive"], shares["fast"]])
    kind = random.choice(4, events, p=[*share, 1 - share.sum()])
    low, high = np.array([40, 60, 101, 60])[kind], np.array([59, 101, 180, 101])[kind]
    names = ["lying", *(f"activity {number}" for number in range(2, ACTIVITIES + 1))]
    activity = np.where(kind == 1, 0, random.integers(1, ACTIVITIES, events))
    return pa.table(
        {
            "type": named(["Activity"], np.zeros(events, np.int32)),
            "time": times(events, rate),
            "person": random.integers(0, PEOPLE, events),
            "activity": named(names, activity),
            "heart": random.integers(low, high),
        }
    )


def trades(events: int, rate: float, companies: int = COMPANIES, seed: int = 18) -> pa.Table:
    """Return transactions of companies, ten companies to a sector."""
    random = np.random.default_rng(seed)
    company = random.integers(0, companies, events)
    return pa.table(
        {
            "type": named(["Stock"], np.zeros(events, np.int32)),
            "time": times(events, rate),
            "company": company,
            "sector": company // 10,
            "price": np.round(random.uniform(1, 100, events), 2),
        }
    )


def falling(events: int, rate: float, percent: float, seed: int = 19) -> pa.Table:
    """Return purchases and sales; the price falls in a percentage of the pairs of one company in a window."""
    random = np.random.default_rng(seed)
    within = np.arange(events) % rate / rate
    company = random.integers(0, COMPANIES, events)
    return pa.table(
        {
            "type": named(["Buy", "Sell"], random.choice(2, events, p=[0.65, 0.35])),
            "time": times(events, rate),
            "company": company,
            "price": random.random(events) - drift(percent / 100) * within,
        }
    )


def drift(share: float) -> float:
    """Return the fall of prices over a window, added to noise in 0 to 1, with which this share of pairs falls."""
    low, high = -100.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _falls(middle) < share else (low, middle)
    return (low + high) / 2


def _falls(fall: float) -> float:
    """Return the share of pairs that fall; the distances of two events in time and in noise are triangular."""
    distance = (np.arange(10_000) + 0.5) / 10_000
    shift = np.clip(distance * fall, -1, 1)
    falls = np.where(shift >= 0, 1 - (1 - shift) ** 2 / 2, (1 + shift) ** 2 / 2)
    return float(np.mean(falls * 2 * (1 - distance)))


STAGES = ("Pickup", "Trip", "Dropoff", "Cancel")


def trips(events: int, rate: float, shares: tuple[float, ...], districts: int, pairs: int, seed: int = 20) -> pa.Table:
    """Return events of trips: `shares` are those of `STAGES`, `pairs` the drivers of a district, each with a rider."""
    random = np.random.default_rng(seed)
    pair = random.integers(0, districts * pairs, events)
    return pa.table(
        {
            "type": named(list(STAGES), random.choice(len(STAGES), events, p=shares)),
            "time": times(events, rate),
            "district": pair // pairs,
            "driver": pair,
            "rider": pair * 7 + 1,
            "speed": np.round(random.uniform(0, 60, events), 1),
        }
    )
