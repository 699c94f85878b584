"""A run in one thread that counts what its plan did: events of each query, rows, bursts, and seconds by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from time import perf_counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import Evaluator
from elsinore.actors.rows.rows import Rows
from elsinore.actors.work_done import Stopwatch, WorkDone
from elsinore.cluster.run.local import EventSource, LocalRun
from elsinore.planner.explain.counted import QueryCounts, RunCounts, SetCounts, VariableCounts
from elsinore.planner.language.syntax import Attribute, Expression, Query
from elsinore.planner.language.walk import column, leaves, readers
from elsinore.planner.machines.predicates import attributes
from elsinore.planner.plans.model import Plan

Mask = npt.NDArray[np.bool_]


class Noted:
    """Events that a run takes in, by type."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        types = batch.column(0)
        self._names: list[str] = types.dictionary.to_pylist()
        self._codes = types.indices.to_numpy(zero_copy_only=False)
        self._columns = dict(zip(batch.schema.names[2:], batch.columns[2:], strict=True))
        self.counts = dict(zip(self._names, np.bincount(self._codes, minlength=len(self._names)).tolist(), strict=True))
        self._keyed: dict[tuple[str, tuple[str, ...]], Mask] = {}

    def keyed(self, name: str, attributes: tuple[str, ...]) -> Mask:
        """Return which events of a type have values of some attributes."""
        if (name, attributes) not in self._keyed:
            valid = [pc.is_valid(one).to_numpy(zero_copy_only=False) for one in self._taken(name, attributes).values()]
            self._keyed[name, attributes] = np.logical_and.reduce([np.ones(self.counts[name], np.bool_), *valid])
        return self._keyed[name, attributes]

    def satisfying(self, name: str, conditions: Sequence[Expression], query: str) -> Mask:
        """Return which events of a type satisfy conditions on single events."""
        read = {one.name for condition in conditions for one in attributes(condition)}
        evaluate = Evaluator(self._taken(name, read), self.counts[name], query)
        return np.logical_and.reduce([evaluate.condition(condition) for condition in conditions])

    def _taken(self, name: str, attributes: Iterable[str]) -> dict[str, pa.Array]:
        rows = pa.array(np.flatnonzero(self._codes == self._names.index(name)))
        return {one: self._columns[one].take(rows) for one in attributes}


@dataclass
class Tally:
    """The events of a query by variable: those without a key, and those that its conditions filter out."""

    query: Query
    conditions: Mapping[str, Sequence[Expression]]
    """By variable, those on single events."""
    keyless: Counter[str] = field(default_factory=Counter)
    filtered: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, query: Query) -> Tally:
        conditions: dict[str, list[Expression]] = {}
        for one in query.predicates:
            read = {(reader.variable, isinstance(reader, Attribute) and not reader.next) for reader in readers(one)}
            if len(read) == 1 and all(single for _, single in read):
                conditions.setdefault(next(iter(read))[0], []).append(one)
        return cls(query, conditions)

    @property
    def variables(self) -> list[tuple[str, str]]:
        """Return the variables of the pattern, each with its type."""
        return [(leaf.variable or leaf.name, leaf.name) for leaf in leaves(self.query.pattern)]

    def note(self, events: Noted) -> None:
        """Count events."""
        for variable, kind in self.variables:
            if events.counts.get(kind):
                keyed = events.keyed(kind, self.query.partition)
                self.keyless[variable] += int(np.count_nonzero(~keyed))
                if conditions := self.conditions.get(variable):
                    kept = events.satisfying(kind, conditions, self.query.name)
                    self.filtered[variable] += int(np.count_nonzero(keyed & ~kept))

    def counted(self, types: Mapping[str, int]) -> list[VariableCounts]:
        """Return the counts by variable, in the order of the pattern."""
        return [
            VariableCounts(column(name), kind, types.get(kind, 0), self.keyless[name], self.filtered[name])
            for name, kind in self.variables
        ]


class AnalyzedRun(LocalRun):
    """A run whose rows are counted and thrown away."""

    def __init__(self, plan: Plan, source: EventSource, *, lateness: Fraction, whole: bool) -> None:
        super().__init__(plan, source, lateness=lateness, whole=whole, cores=1)
        self._reading, self._counting = Stopwatch(), Stopwatch()
        self._types = Counter[str]()
        self._tallies = [Tally.of(one.query) for one in plan.queries]

    def counts(self) -> RunCounts:
        """Run the plan over all events, and return what was counted; to be called once."""
        rows = Counter[str]()
        began = perf_counter()
        for some in self:
            rows[some.query] += len(some)
        seconds = perf_counter() - began - self._counting.seconds
        metrics, work = self.metrics, [done for engine in self.engines for done in engine.work()]
        return RunCounts(
            metrics.events,
            metrics.late,
            metrics.dead,
            metrics.dropped,
            metrics.rows,
            self._types,
            self.plan.types,
            seconds,
            self._parts_of(seconds, sum(done.seconds for done in work)),
            [_of_set(done) for done in self._of_sets(work)],
            {one.query.name: self._of_query(one, work, rows) for one in self._tallies},
        )

    def _parts_of(self, seconds: float, in_graphs: float) -> dict[str, float]:
        parts = {"reading": self._reading.seconds, "in graphs": in_graphs}
        if self.metrics.bursts:
            parts["of these to decide about bursts"] = self.metrics.decision_seconds
        return {**parts, "elsewhere": max(0.0, seconds - self._reading.seconds - in_graphs)}

    def _of_sets(self, work: list[WorkDone]) -> Iterator[WorkDone]:
        """Yield the work of each share set, as the plan numbers them."""
        by_members = {frozenset(done.members): done for done in work}
        for one in self.plan.share_sets:
            yield by_members[frozenset((self.plan.queries[at.query].query.name, at.counter) for at in one.members)]

    def _of_query(self, tally: Tally, work: list[WorkDone], rows: Counter[str]) -> QueryCounts:
        name, shared = tally.query.name, {member for done in self._of_sets(work) for member in done.members}
        own = [done.seconds for done in work if not shared.intersection(done.members) and name in dict(done.members)]
        return QueryCounts(tally.counted(self._types), rows[name], sum(own) if own else None)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        def read() -> Iterator[pa.RecordBatch]:
            yield from super(AnalyzedRun, self)._batches()

        return self._reading.each(read())

    def _taken(self, ready: pa.RecordBatch, watermark: int) -> Iterator[Rows]:
        self._counting.of(partial(self._note, ready))
        yield from super()._taken(ready, watermark)

    def _note(self, ready: pa.RecordBatch) -> None:
        events = Noted(ready)
        self._types.update(events.counts)
        for tally in self._tallies:
            tally.note(events)


def _of_set(done: WorkDone) -> SetCounts:
    return SetCounts(*done.totals, done.seconds, done.stored)
