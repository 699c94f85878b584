"""Engines that share the partitions of a stream in one process, each in a thread of its own.

Kernels release the GIL, and no trend spans two partitions, so engines that have different partitions run side by side.
Rows of groups that several of them have are added up as those of graph actors are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.rows.rows import Rows
from elsinore.actors.shells.collector import Collector
from elsinore.actors.streams.owners import Owners, owners_of
from elsinore.planner.language.syntax import Query
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import joined, parts_of
from elsinore.planner.plans.routes import keys_of

PIECE_EVENTS = 1 << 18
"""Number of events that are dealt out at a time: while engines take one piece, the owners of the next are found."""

AHEAD = 2
"""The most pieces that wait for their engines."""

Keys = tuple[str, ...]


class EngineThreads:
    """The engines of some queries. There are several if their partitions are dealt out by the attributes `keys`."""

    def __init__(self, engines: Sequence[Engine], keys: Keys = ()) -> None:
        self.engines = engines
        self._keys = keys
        self._executors = [ThreadPoolExecutor(1, "elsinore-engine") for _ in engines] if len(engines) > 1 else []
        """One of a single thread for each engine, in which it takes its events in order."""

    @property
    def plan(self) -> Plan:
        return self.engines[0].plan

    def feed(self, ready: pa.RecordBatch, watermark: int) -> Iterator[Rows]:
        """Take in sorted events, none of which is late or as late as the watermark, and yield the rows of windows."""
        if not self._executors:
            found = self.engines[0].feeding_partial(ready, watermark, ready.column(1).to_numpy())
            return (rows.finished() for rows in found)
        return self._collected(self._dealt(ready, watermark))

    def finish(self) -> Iterator[Rows]:
        """End the stream, and yield the rows of windows that are still open."""
        if not self._executors:
            return (rows.finished() for rows in self.engines[0].finishing_partial())
        engines = zip(self._executors, self.engines, strict=True)
        return self._collected(iter([[executor.submit(engine.finish_partial) for executor, engine in engines]]))

    def close(self) -> None:
        """Stop the threads; what waits for them is not taken in."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)

    def _dealt(self, ready: pa.RecordBatch, watermark: int) -> Iterator[list[Future[list[PartialRows]]]]:
        """Yield the rows to come of piece after piece."""
        times = ready.column(1).to_numpy()
        for start in range(0, len(ready), PIECE_EVENTS):
            piece = ready.slice(start, PIECE_EVENTS)
            end = start + len(piece)
            # Events of one time that two pieces share wait in their engine for the second one.
            until = watermark if end == len(ready) else int(times[end])
            owners = owners_of([piece.column(name) for name in self._keys], len(piece), len(self.engines))
            yield [
                executor.submit(_taken, engine, piece, owners, number, until)
                for number, (executor, engine) in enumerate(zip(self._executors, self.engines, strict=True))
            ]

    def _collected(self, asked: Iterator[list[Future[list[PartialRows]]]]) -> Iterator[Rows]:
        """Yield the rows of pieces that all engines have taken, and let `AHEAD` more wait meanwhile."""
        waiting: list[list[Future[list[PartialRows]]]] = []
        for futures in chain(asked, [[]] * AHEAD):
            waiting.append(futures)
            if len(waiting) > AHEAD:
                yield from Collector().collect(*(future.result() for future in waiting.pop(0)))


def _taken(engine: Engine, piece: pa.RecordBatch, owners: Owners, number: int, watermark: int) -> list[PartialRows]:
    """Let an engine take its own events of a piece."""
    return engine.feed_partial(piece.filter(pa.array(owners == number)), watermark)


def dealt_plans(plan: Plan, exact: bool) -> list[tuple[Keys, Plan]]:
    """Split a plan by the attributes that its events can be dealt out by; without any, no two engines can share them.

    Events have to meet where they form trends, and where their rows cannot be added up. Approximate numbers are added
    in one order only, that of the partitions of a group, so groups stay together.
    """
    found: dict[Keys, list[Plan]] = {}
    for part in parts_of(plan):
        found.setdefault(_keys_of_part(part, exact), []).append(part)
    return [(keys, joined(plan.strategy, parts)) for keys, parts in found.items()]


def _keys_of_part(part: Plan, exact: bool) -> Keys:
    """Return the attributes that determine the owner for all queries of a part."""
    first, *others = (_keys_of_query(one.query, exact) for one in part.queries)
    return tuple(name for name in first if all(name in other for other in others))


def _keys_of_query(query: Query, exact: bool) -> Keys:
    if query.detects or query.counts_events:
        return ()
    return keys_of(query) if exact else query.groups
