"""Small streams made up for a workload: events that its patterns may match, within windows that fill and close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.cluster.run.local import MIN_SHARED_EVENTS
from elsinore.planner.language.syntax import And, EventType, Kleene, Not, Or, Pattern, Seq, Workload
from elsinore.warming.values import values_of

Row = tuple[int, str, int]
"""The time, type and partition of an event."""

TYPE, TIME, UNIT = "event type", "event time", "ns"
"""Columns that no attribute of a workload can be called like, and the unit of times."""

SECOND = 10**9
"""In nanoseconds."""

FEW, MANY = 5, 80
"""Events that a Kleene pattern matches in a row. Those of the latter form more trends than a word can count."""


@dataclass(frozen=True)
class Turn:
    """Matches of all patterns, once more."""

    begin: float
    """When, in lengths of the longest window."""
    side_by_side: bool
    """Whether events of different partitions alternate. If nothing splits the stream, bursts are whole only where
    matches come one after another."""
    paired: bool = False
    """Whether events have equal times."""


TURNS = (
    Turn(0, True),
    Turn(0.7, False),
    Turn(1.4, True),
    Turn(2.1, False),
    Turn(6, True, True),
    Turn(6.3, False, True),
)
"""Windows overlap, fill, close, and stay empty for a while."""

PERIOD = 10
"""The lengths of the longest window after which all turns are repeated, in a stream that has to be long."""

MOST_EVENTS = 20_000
"""The most events, as far as there are two turns."""


@dataclass(frozen=True)
class Shape:
    """How a stream is made up."""

    repeated: int = FEW
    unit: int = 1
    """What the values of attributes of which nothing is known are multiples of."""
    keys: int = 3
    """How many partitions match each pattern."""
    least: int = 0
    """The stream is repeated until it has so many events."""


SMALL_NUMBERS = Shape()
LARGE_NUMBERS = Shape(unit=1 << 58)
"""The sum of a few values is beyond any word."""
LONG_BURSTS = Shape(repeated=MANY)
LONG = Shape(least=MIN_SHARED_EVENTS, keys=40)
"""So many events are dealt out over several threads; so many partitions make tables grow."""


@dataclass(frozen=True)
class Match:
    """The types of some events of a partition that match a pattern."""

    types: tuple[str, ...]
    partition: int


def made_up(workload: Workload, shape: Shape) -> pa.Table:
    """Return events in order of time, with all attributes that the workload reads."""
    times, types, partitions = zip(*sorted(_rows(workload, shape)), strict=True)
    columns = {TYPE: pa.array(types).dictionary_encode(), TIME: pa.array(times, pa.int64())}
    once = pa.table(columns | _attributes(workload, np.array(partitions), shape.unit))
    _, longest = _lengths(workload)
    later = (pc.add(once[TIME], number * PERIOD * longest) for number in range(-(-shape.least // len(once)) or 1))
    return pa.concat_tables(once.set_column(1, TIME, times) for times in later).combine_chunks()


def _rows(workload: Workload, shape: Shape) -> Iterator[Row]:
    shortest, longest = _lengths(workload)
    size = sum(len(match.types) for match in _matches(workload, shape, 0))
    for number, turn in enumerate(TURNS[: max(2, MOST_EVENTS // size)]):
        yield from _turn(turn, _matches(workload, shape, number), int(turn.begin * longest), shortest)


def _matches(workload: Workload, shape: Shape, turn: int) -> list[Match]:
    """Return the matches of a turn; the last partition of each query is a new one in each turn."""
    partitions = len(workload.queries) * shape.keys
    return [
        Match(
            tuple(_witness(query.pattern, shape.repeated, turn)),
            number * shape.keys + key + (turn * partitions if key == shape.keys - 1 else 0),
        )
        for number, query in enumerate(workload.queries)
        for key in range(shape.keys)
    ]


def _turn(turn: Turn, matches: Sequence[Match], begin: int, shortest: int) -> Iterator[Row]:
    """Yield the events of a turn, all within half of the shortest window."""
    longest = max(len(match.types) for match in matches)
    step = max(1, shortest // (2 * longest * len(matches) + 2))
    for place, match in enumerate(matches):
        for number, name in enumerate(match.types):
            position = number * len(matches) + place if turn.side_by_side else place * longest + number
            yield begin + step * (position // 2 * 2 if turn.paired else position), name, match.partition


def _lengths(workload: Workload) -> tuple[int, int]:
    """Return the lengths of the shortest and the longest window of time, in nanoseconds."""
    spans = [query.within.seconds for query in workload.queries if not query.counts_events]
    return (int(min(spans) * SECOND), int(max(spans) * SECOND)) if spans else (SECOND, SECOND)


def _witness(pattern: Pattern, repeated: int, turn: int) -> list[str]:
    """Return types of events that match a pattern; alternatives take turns, and in some turns NOT is violated."""
    match pattern:
        case EventType():
            return [pattern.name]
        case Kleene():
            most = 2 if _repeats(pattern.part) else repeated
            times = max(pattern.least, min(most, pattern.most or most))
            return list(chain.from_iterable(_witness(pattern.part, repeated, turn + n) for n in range(times)))
        case Seq() | And():
            return list(chain.from_iterable(_witness(part, repeated, turn) for part in pattern.parts))
        case Or():
            return _witness(pattern.parts[turn % len(pattern.parts)], repeated, turn)
        case Not():
            return _witness(pattern.part, 1, turn) if turn % 3 == 2 else []


def _repeats(pattern: Pattern) -> bool:
    match pattern:
        case Kleene():
            return True
        case Seq() | And() | Or():
            return any(map(_repeats, pattern.parts))
    return False


def _attributes(workload: Workload, partitions: npt.NDArray[np.int64], unit: int) -> dict[str, pa.Array]:
    """Return the columns of attributes: of those that split the stream by partition, of others at random."""
    random = np.random.default_rng(0)
    splitting = {name for query in workload.queries for name in query.partition}
    found: dict[str, pa.Array] = {}
    for name, values in values_of(workload).items():
        if name in splitting and not values.known:
            found[name] = pa.array([f"key {one}" for one in partitions.tolist()])
            continue
        some = values.candidates(unit)
        chosen = partitions % len(some) if name in splitting else random.integers(0, len(some), len(partitions))
        found[name] = pa.array(some).take(pa.array(chosen))
    return found
