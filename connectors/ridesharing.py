"""HAMLET's ridesharing stream (Section 6.1): 20 event types in bursts, 10,000 events a minute, times in seconds.

Every pair of a driver and a rider makes one trip after another. A trip follows a route, a list of stages; a stage that
recurs (the driver travels, waits, ...) is a burst of events of its type, any other a single event. Pairs are
independent, so the trips of a district overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from elsinore.connectors.errors import InputError
from elsinore.connectors.formats.json_rows import json_lines
from elsinore.connectors.storage.drafts import Draft

TYPES = (
    *("Request", "Offer", "Accept", "Decline", "Travel", "Reroute", "Delay", "Arrive", "Wait", "Call"),
    *("Message", "Pickup", "Stop", "Dropoff", "Cancel", "NoShow", "Pay", "Tip", "Rate", "Complain"),
)
RECURRING = frozenset({"Travel", "Delay", "Wait", "Call", "Message"})
RIDE_KINDS = ("Solo", "Pool", "Premium")

ROUTES = (
    "Request Offer Accept Travel Arrive Wait Pickup Travel Dropoff Pay Rate",
    "Request Offer Accept Travel Arrive Pickup Travel Stop Travel Dropoff Pay Tip Rate",
    "Request Offer Decline Offer Accept Travel Reroute Travel Message Pickup Travel Dropoff Pay Complain",
    "Request Accept Travel Delay Travel Cancel",
    "Request Accept Travel Arrive Wait Call NoShow",
    "Request Accept Travel Message",
)
SHARES = (0.35, 0.2, 0.1, 0.15, 0.1, 0.1)
"""The share of each route. The last three have no pickup."""

POOLED_ROUTE = 1
"""Index of the route with a stop on the way."""

FIRST_SLOW_ROUTE = 3
"""Index of the first of the routes that are stuck in traffic."""

PAIRS_IN_A_DISTRICT = 10
BLOCK_EVENTS = 1 << 17
"""Approximate number of events that are generated at once."""

SCHEMA = pa.schema(
    {
        "type": pa.dictionary(pa.int32(), pa.string()),
        "time": pa.int64(),
        "district": pa.dictionary(pa.int32(), pa.string()),
        "driver": pa.int64(),
        "rider": pa.int64(),
        "kind": pa.dictionary(pa.int32(), pa.string()),
        "speed": pa.float64(),
        "duration": pa.int64(),
        "price": pa.float64(),
    }
)

EventColumns = dict[str, npt.NDArray[np.generic]]
"""Events without their times; `moment` is when they happen, in blocks."""


def generate(
    events: int,
    *,
    rate: float = 10_000,
    groups: int = 1_000,
    burst: float = 10,
    seed: int = 0,
    batch_rows: int = BLOCK_EVENTS,
) -> Iterator[pa.RecordBatch]:
    """Yield the stream, in order of time.

    `rate` is events a minute, `groups` the number of pairs of a driver and a rider (ten to a district), `burst` the
    average number of events of a recurring type that follow each other in a pair. The same seed gives the same events,
    however they are cut into batches.
    """
    _check(
        events=(events, 0),
        rate=(rate, 0.001),
        groups=(groups, 1),
        burst=(burst, 1),
        seed=(seed, 0),
        batch_rows=(batch_rows, 1),
    )
    districts = pa.array([f"D{number}" for number in range(-(-groups // PAIRS_IN_A_DISTRICT))])
    waiting, first = SCHEMA.empty_table(), 0
    for columns in _blocks(groups, burst, seed):
        batch = _batch(columns, first, rate, districts).slice(0, events - first)
        first += len(batch)
        waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch])])
        while len(waiting) >= batch_rows or (first == events and len(waiting)):
            yield waiting.slice(0, batch_rows).combine_chunks().to_batches()[0]
            waiting = waiting.slice(batch_rows)
        if first == events:
            return


def write(
    path: str | Path,
    events: int,
    *,
    rate: float = 10_000,
    groups: int = 1_000,
    burst: float = 10,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the stream to a .parquet, .csv or .jsonl file; `progress` is given the number of events of each step."""
    writer = WRITERS.get(Path(path).suffix.lower())
    if writer is None:
        raise InputError(f"{path}: the file name must end in {', '.join(WRITERS)}.")
    batches = generate(events, rate=rate, groups=groups, burst=burst, seed=seed)
    draft = Draft(Path(path))
    try:
        writer(draft, _with_progress(batches, progress))
    except BaseException:
        draft.abandon()
        raise
    draft.close()


def _with_progress(
    batches: Iterator[pa.RecordBatch], progress: Callable[[int], None] | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch
        if progress is not None:
            progress(len(batch))


def _parquet(draft: Draft, batches: Iterator[pa.RecordBatch]) -> None:
    with pq.ParquetWriter(draft.stream, SCHEMA) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _csv(draft: Draft, batches: Iterator[pa.RecordBatch]) -> None:
    plain = pa.schema([(field.name, _plain(field.type)) for field in SCHEMA])
    with pacsv.CSVWriter(draft.stream, plain) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(plain))


def _jsonl(draft: Draft, batches: Iterator[pa.RecordBatch]) -> None:
    for batch in batches:
        draft.stream.write(json_lines(batch, SCHEMA.names).encode())


WRITERS = {".parquet": _parquet, ".csv": _csv, ".jsonl": _jsonl}


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _blocks(groups: int, burst: float, seed: int) -> Iterator[EventColumns]:
    """Yield events in order of moment, block by block.

    In each block every pair begins the same number of trips, at a phase of its own; a trip that reaches into the next
    block is carried over.
    """
    routes = [route.split() for route in ROUTES]
    usual = sum(
        share * sum(burst if stage in RECURRING else 1 for stage in route)
        for share, route in zip(SHARES, routes, strict=True)
    )
    trips = max(1, round(BLOCK_EVENTS / (groups * usual)))
    phases = np.random.default_rng([seed]).random(groups)
    carried: EventColumns | None = None
    for block in count():
        columns = _trips(np.random.default_rng([seed, block]), phases, trips, burst)
        columns["moment"] = columns["moment"] + block
        if carried is not None:
            columns = {name: np.concatenate([carried[name], columns[name]]) for name in columns}
        order = np.argsort(columns["moment"], kind="stable")
        ready = int(np.searchsorted(columns["moment"], block + 1, sorter=order))
        carried = {name: values[order[ready:]] for name, values in columns.items()}
        yield {name: values[order[:ready]] for name, values in columns.items()}


def _trips(random: np.random.Generator, phases: npt.NDArray[np.float64], trips: int, burst: float) -> EventColumns:
    """Return the events of so many trips of every pair, trip by trip."""
    groups = len(phases)
    pair = np.repeat(np.arange(groups), trips)
    start = (phases[pair] + np.tile(np.arange(trips), groups)) / trips
    route = random.choice(len(ROUTES), len(pair), p=SHARES)
    kind = np.where(route == POOLED_ROUTE, RIDE_KINDS.index("Pool"), random.integers(0, len(RIDE_KINDS), len(pair)))
    cruise = random.uniform(
        np.where(route >= FIRST_SLOW_ROUTE, 3.0, 15.0), np.where(route >= FIRST_SLOW_ROUTE, 14.0, 60.0)
    )

    stages = STAGES[route]
    lengths = np.where(RECURS[stages], random.geometric(1 / burst, stages.shape), 1) * (stages >= 0)
    trip = np.repeat(np.arange(len(pair)), lengths.sum(axis=1))
    total = lengths.sum(axis=1)[trip]
    place = np.arange(len(trip)) - np.repeat(np.cumsum(lengths.sum(axis=1)) - lengths.sum(axis=1), lengths.sum(axis=1))
    return {
        "moment": start[trip] + (place + random.random(len(trip))) / (total * trips),
        "type": np.repeat(stages.ravel(), lengths.ravel()).astype(np.int32),
        "pair": pair[trip],
        "kind": kind[trip].astype(np.int32),
        "speed": np.round(cruise[trip] * random.uniform(0.6, 1.4, len(trip)), 1),
        "duration": random.integers(1, 600, len(trip)),
        "price": np.round(random.uniform(3, 80, len(trip)), 2),
    }


def _stages() -> npt.NDArray[np.int64]:
    """Return the codes of each route's stages, one row for each route, padded with -1."""
    table = np.full((len(ROUTES), max(len(route.split()) for route in ROUTES)), -1)
    for row, route in enumerate(ROUTES):
        codes = [TYPES.index(stage) for stage in route.split()]
        table[row, : len(codes)] = codes
    return table


STAGES = _stages()
RECURS = np.array([*(name in RECURRING for name in TYPES), False])
"""Whether a stage recurs, by its code; the last entry is for -1."""


def _batch(columns: EventColumns, first: int, rate: float, districts: pa.Array) -> pa.RecordBatch:
    """Return events with their times, which advance at a steady rate."""
    pair = columns["pair"].astype(np.int64)
    times = np.floor((first + np.arange(len(pair))) * (60 / rate)).astype(np.int64)
    coded = pa.DictionaryArray.from_arrays
    return pa.RecordBatch.from_arrays(
        [
            coded(pa.array(columns["type"]), pa.array(TYPES)),
            pa.array(times),
            coded(pa.array((pair // PAIRS_IN_A_DISTRICT).astype(np.int32)), districts),
            pa.array(pair // 2),
            pa.array(pair),
            coded(pa.array(columns["kind"]), pa.array(RIDE_KINDS)),
            pa.array(columns["speed"]),
            pa.array(columns["duration"]),
            pa.array(columns["price"]),
        ],
        schema=SCHEMA,
    )


def _check(**given: tuple[float, float]) -> None:
    for name, (value, least) in given.items():
        if not least <= value < float("inf"):
            raise InputError(f"{name} is {value}; it must be at least {least}.")
