"""The shell of a graph actor, which takes in its part of the stream batch by batch.

Ray may lose a call, run a call twice, or run calls in another order. So batches are numbered: an actor takes the batch
that follows the last one, repeats its answer when asked again for one of the last batches, and refuses any other.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from time import perf_counter
from typing import Any, Protocol

import pyarrow as pa

from elsinore.actors.detection.run import WHOLE, DetectionSetting
from elsinore.actors.engine import Engine
from elsinore.actors.rows.found import Found, Outlet, rows_by_query
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.shells.blocks_in import (
    ALL_GROUPS,
    Bounds,
    Ints,
    batch_of,
    buffer_of,
    counted,
    events_of,
    numbered,
    own_events,
    times_block,
)
from elsinore.actors.shells.remote_optimizer import RemoteOptimizer
from elsinore.actors.state import pack, unpack
from elsinore.actors.streams.places import Beginning
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.routes import Route
from elsinore.planner.time.clock import Clock


class Keeper(Protocol):
    """The storage for what an actor of a live stream must not lose."""

    def put_events(self, batch: int, place: int, blocks: Sequence[memoryview]) -> None: ...

    def put_state(self, batch: int, place: int, state: bytes) -> None: ...


@dataclass(frozen=True)
class Duty:
    """The settings with which every graph actor of a run begins."""

    routes: tuple[Route, ...]
    plans: tuple[Plan, ...]
    """By route, the plan of its queries. It is made once for all actors: making it takes longer than sending it."""
    types: tuple[str, ...]
    clock: list[Any]
    numeric: str
    policy: SharingOptimizer
    """The optimizer that decides about bursts where the optimizer actor does not."""
    record_decisions: bool = False
    remembered: int = 0
    """Number of recorded decisions to keep per engine and share set, the last ones; 0: all of them."""
    key_groups: int = 1
    keeper: Keeper | None = None
    observed_as: str = ""
    """The name of the stream under which its statistics go to the optimizer actor; empty: they do not."""
    places: int = 1
    """Number of actors."""
    unsafe: int = 1
    """Number of batches, the last ones, whose rows may not be safe yet, so that they may be asked for again."""


@dataclass(frozen=True)
class Legacy:
    """The state that an engine takes over from an earlier one."""

    state: bytes
    own: tuple[int, int] | None = None
    """The key groups to keep of it, the first one and the one after the last; None: all."""


@dataclass(frozen=True)
class Counts:
    """The counters of an actor since it began."""

    late: int = 0
    bursts: int = 0
    shared_bursts: int = 0
    snapshots: int = 0
    decision_seconds: float = 0.0
    questions: int = 0
    """Questions to the optimizer actor."""
    missed: int = 0
    """Questions without an answer in time, and those not sent after one."""
    waited: float = 0.0
    """Seconds that were spent waiting for answers."""
    seconds: float = 0.0
    """Seconds that were spent on batches."""


@dataclass(frozen=True)
class Receipt:
    """The acknowledgement of a batch."""

    number: int
    counts: Counts
    late: list[pa.RecordBatch] = field(default_factory=list)
    types: dict[str, int] = field(default_factory=dict)
    """Events of the batch by type that this actor counts, in a live stream if they come from Spark."""
    matches: Counter[str] = field(default_factory=Counter)
    """Matches by query that came with it."""
    more: bool = False
    """Whether there may be more matches, which `GraphActor.more` returns."""


Answer = tuple[Receipt, list[PartialRows]]
"""A receipt, and the rows of the windows that the batch closes, as far as this actor knows them; matches in part."""

More = tuple[Counter[str], bool]
"""The matches of a message by query, and whether there may be more."""


MESSAGE_ROWS = 1 << 16
"""Number of matches from which on a message is full. A search finds some at a time, so it may have a few times more."""


class OutOfOrderError(Exception):
    """A batch that does not follow the last one."""


class GraphActor:
    """The engines of one place: one for each range of key groups that it owns, and each route.

    There is one range, unless the stream was continued with another number of actors than it began with. An actor is
    single-threaded, which is Ray's default.
    """

    message_rows = MESSAGE_ROWS

    def begin(self, duty: Duty, optimizer: Any, place: int, ranges: Sequence[Bounds]) -> None:
        """Begin with empty engines. `optimizer`: the actor that decides about bursts; `place`: which of the actors this
        is; `ranges`: adjacent ones, in order."""
        self.duty = duty
        self.place = place
        self.ranges = ranges
        self.optimizer = RemoteOptimizer(optimizer, duty.policy)
        ways = list(zip(duty.plans, duty.routes, strict=True))
        self.engines = [self._fresh(*way) for _ in ranges for way in ways]
        self.number = 0
        self.taking = 0
        """Number of the batch that is being taken, or that failed half way; 0: none."""
        self.late = 0
        self.seconds = 0.0
        self.answers: dict[int, Answer] = {}
        """By batch, as far as they may be asked for again."""
        self.outlets: dict[int, Outlet] = {}
        """By batch, its matches."""

    def pid(self) -> int:
        return os.getpid()

    def reached(self) -> int:
        """Return the last batch that was taken."""
        self._check()
        return self.number

    def _check(self) -> None:
        """Raise an error if the engines have seen half of a batch, because memory ran out for instance."""
        if self.taking:
            raise OutOfOrderError(f"batch {self.taking} failed half way, so this actor has to be replaced")

    def take(self, number: int, watermark: int | None, *blocks: bytes) -> Answer:
        """Take in the events of a batch that this actor owns, and return the rows of the windows that it closes.

        Of many matches it returns the first; `more` searches the others. No later batch has events older than the
        watermark. Without a watermark the stream is over.
        """
        if number in self.answers:
            return self.answers[number]
        self._check()
        if number != self.number + 1:
            raise OutOfOrderError(f"batch {number} came after batch {self.number}")
        begin = perf_counter()
        self.taking = number
        events, times = events_of(blocks) if blocks else (None, None)
        if events is not None:
            events = numbered(events, None if self.duty.keeper is None else number)
        types = self._counted_types(events)
        events = self._own(number, events, times)
        found = self._drained() if watermark is None else self._taken(watermark, events, times)
        outlet = Outlet(found)
        matches = outlet.after({}, self.message_rows)
        self.seconds += perf_counter() - begin
        self.number, self.taking = number, 0
        receipt = Receipt(number, *self._counted(), types, rows_by_query(matches), outlet.more)
        self.answers[number], self.outlets[number] = (receipt, [*found.rows, *matches]), outlet
        for kept in (self.answers, self.outlets):
            kept.pop(number - self.duty.unsafe, None)
        self._tell()
        return self.answers[number]

    def more(self, number: int, arrived: Counter[str]) -> tuple[More, list[PartialRows]]:
        """Return matches of a batch that follow those that have arrived, which are so many by query."""
        if number not in self.outlets:
            raise OutOfOrderError(f"the matches of batch {number} are not kept; the last batch is {self.number}")
        self._check()
        begin, outlet = perf_counter(), self.outlets[number]
        self.taking = number
        rows = outlet.after(arrived, self.message_rows)
        self.taking = 0
        self.seconds += perf_counter() - begin
        return (rows_by_query(rows), outlet.more), rows

    def _tell(self) -> None:
        """Send the statistics of the engines to the optimizer actor, for replanning."""
        if self.duty.observed_as:
            seen = [engine.statistics.read_and_reset() for engine in self.engines]
            if any(one is not None for one in seen):
                self.optimizer.tell(self.duty.observed_as, self.place, self.number, seen)

    def _counted_types(self, events: pa.Table | None) -> dict[str, int]:
        """Count the events of a batch of a live stream by type, each at one actor only."""
        if events is None or self.duty.keeper is None:
            return {}
        return counted(events, self._bounds, len(self.duty.routes), self.duty.types)

    @property
    def _bounds(self) -> Bounds:
        return self.ranges[0][0], self.ranges[-1][1]

    def _own(self, number: int, events: pa.Table | None, times: Ints | None) -> pa.Table | None:
        """Return the events of a batch; of a live stream this actor's own alone, after they have been stored."""
        if self.duty.keeper is None:
            return events
        blocks: list[memoryview] = []
        if events is not None:
            events = own_events(events, self._bounds, len(self.duty.plans))
            blocks.append(memoryview(buffer_of(events)))
            if times is not None and any(route.counts_events for route in self.duty.routes):
                blocks.append(memoryview(times_block(times)))
        self.duty.keeper.put_events(number, self.place, blocks)
        return events

    def _taken(self, watermark: int, events: pa.Table | None, times: Ints | None) -> Found:
        found = Found()
        for number, engine in enumerate(self.engines):
            range_, route = divmod(number, len(self.duty.plans))
            columns = self.duty.routes[route].columns
            if events is not None:
                bounds = ALL_GROUPS if self.duty.routes[route].spread else self.ranges[range_]
                batch = batch_of(events, route, bounds, self.duty.types, columns)
                found.join(engine.feeding_partial(batch, watermark, times))
            if self.duty.remembered:
                engine.forget_records(self.duty.remembered)
        return found

    def _drained(self) -> Found:
        found = Found()
        for engine in self.engines:
            found.join(engine.finishing_partial())
        return found

    def _counted(self) -> tuple[Counts, list[pa.RecordBatch]]:
        bursts, shared, snapshots = (sum(engine.totals[n] for engine in self.engines) for n in range(3))
        late = [batch for engine in self.engines for batch in engine.late_events.kept]
        for engine in self.engines:
            engine.late_events.kept = []
        self.late += sum(batch.num_rows for batch in late)
        seconds = sum(engine.decision_seconds for engine in self.engines)
        told = self.optimizer
        return Counts(
            self.late, bursts, shared, snapshots, seconds, told.asked, told.missed, told.waited, self.seconds
        ), late

    def decisions(self) -> list[pa.Table]:
        return [engine.decisions() for engine in self.engines]

    def stored(self) -> list[pa.Table]:
        return [engine.stored() for engine in self.engines]

    def save(self, number: int) -> bytes:
        """Return the state of this actor, and store it if the stream is live; `number`: the last batch taken."""
        self._check()
        if number != self.number:
            raise OutOfOrderError(f"batch {number} is not the last; that is batch {self.number}")
        engines = [engine.save() for engine in self.engines]
        state = pack({"number": number, "late": self.late, "seconds": self.seconds, "engines": engines})
        if self.duty.keeper is not None:
            self.duty.keeper.put_state(number, self.place, state)
        return state

    def restore(self, state: bytes) -> int:
        """Continue from a saved state after `begin`, and return the number of the last batch in it."""
        saved = unpack(state)
        self.number, self.late, self.seconds = saved["number"], saved["late"], saved["seconds"]
        self.engines = [
            Engine.restore(plan, data, self.optimizer, self.duty.record_decisions, detection=self._detection(route))
            for plan, route, data in zip(
                cycle(self.duty.plans), cycle(self.duty.routes), saved["engines"], strict=False
            )
        ]
        return self.number

    def inherit(self, number: int, since: Beginning | None, left: Sequence[Legacy | None]) -> None:
        """Continue from the states of other actors after `begin`, behind batch `number`.

        New queries begin at the time `since`, before which the stream had so many events; None: it had none.
        """
        self.number = number
        ways = cycle(zip(self.duty.routes, self.duty.plans, strict=True))
        self.engines = [self._heir(*way, since, legacy) for way, legacy in zip(ways, left, strict=False)]

    def _heir(self, route: Route, planned: Plan, since: Beginning | None, legacy: Legacy | None) -> Engine:
        time = None if since is None else since.time
        if legacy is None:
            engine = self._fresh(replace(planned, queries=(), share_sets=()), route, since)
            engine.change(planned, time)
            return engine
        recorded, detection = self.duty.record_decisions, self._detection(route)
        engine = Engine.restore(planned, legacy.state, self.optimizer, recorded, time, detection)
        if legacy.own is not None:
            engine.keep(route.keys, self.duty.key_groups, range(*legacy.own))
        return engine

    def _fresh(self, planned: Plan, route: Route, since: Beginning | None = None) -> Engine:
        # No batch has events older than the watermark that came with the batch before, so nothing is ever late here.
        duty = self.duty
        clock, places = Clock.load(duty.clock), route.counts_events
        decisions = duty.record_decisions
        return Engine(
            planned,
            clock,
            duty.numeric,
            0,
            self.optimizer,
            decisions,
            places=places,
            beginning=since,
            detection=self._detection(route),
        )

    def _detection(self, route: Route) -> DetectionSetting:
        share = (self.place, self.duty.places) if route.spread else WHOLE
        merged = self.duty.places > 1 and bool(route.keys)
        # Only pages of the service show what is stored; a bounded run, whose records are never forgotten, keeps none.
        recorded = self.duty.remembered > 0
        return DetectionSetting(share=share, choose=self.optimizer.choose, merged=merged, recorded=recorded)


def engines_of(state: bytes) -> list[bytes]:
    """Return the states of the engines in the saved state of an actor."""
    engines: list[bytes] = unpack(state)["engines"]
    return engines
