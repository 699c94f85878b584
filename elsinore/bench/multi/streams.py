"""Made-up streams whose events have the rates and selectivities of a generated workload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.bench.multi.generator import EVENTS_PER_SECOND
from elsinore.bench.multi.worlds import LocatedWorld

OTHER = "other"
"""The type of events that no pattern asks for."""

Codes = npt.NDArray[np.int32]


def stream(
    world: LocatedWorld, attributes: Sequence[str], events: int, seed: int, others: bool = False, every: int = 0
) -> pa.Table:
    """Return events of all types at their rates, with attributes of a normal distribution at the type's location.

    With `others`, so many events of another type stand between them that all together come at `EVENTS_PER_SECOND`.
    With `every`, types exchange their rates each time so many events have come; selectivities stay as they are.
    """
    rng = np.random.default_rng([seed, events])
    rates = dict(world.statistics.rates)
    if others:
        rates[OTHER] = max(EVENTS_PER_SECOND - sum(rates.values()), 0.0)
    names, total = list(rates), sum(rates.values())
    times = np.cumsum(rng.exponential(1000 / total, events)).astype(np.int64)
    codes = rng.choice(len(names), events, p=[rate / total for rate in rates.values()]).astype(np.int32)
    called = _reshuffled(codes, world, every, rng) if every else codes
    places = np.array([world.locations.get(name, 0.0) for name in names])[called]
    columns = {name: pa.array(rng.normal(places, 1.0)) for name in attributes}
    types = pa.DictionaryArray.from_arrays(pa.array(called), pa.array(names))
    return pa.table({"type": types, "time": pa.array(times), **columns})


def _reshuffled(codes: Codes, world: LocatedWorld, every: int, rng: np.random.Generator) -> Codes:
    """Return the types that events are called, the first ones by their own."""
    called = codes.copy()
    for change, begin in enumerate(range(every, len(codes), every)):
        names = np.arange(codes.max() + 1, dtype=np.int32)
        names[: len(world.amounts)] = world.exchanged(change, rng)
        called[begin : begin + every] = names[codes[begin : begin + every]]
    return called
