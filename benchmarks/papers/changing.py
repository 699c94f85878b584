"""The cost of changing a plan while events flow: a pause to begin the new plan, then both plans run side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from time import process_time

import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.papers.gloria import QUERIES, RATE, WINDOWS, mixed, stream
from elsinore.actors.engine import Engine
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.changing import changed
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

STEPS, BEFORE, BEGINNING, SIDE_BY_SIDE, BEHIND = 36, range(6, 18), range(18, 20), range(20, 23), range(25, 36)
"""Batches of ten seconds: all; before the change; while the new plan begins and its numbers grow; while both run with
nothing more to begin; and afterwards."""
TIMES = 7
SLIDING = "WITHIN 1 minute SLIDE 10 seconds"


def changing(_: int) -> Iterator[Figure]:
    """Yield the figures over six minutes of events, whatever number is asked for: a single change is measured."""
    text = mixed().replace(WINDOWS, SLIDING)
    greedy, running = (plan(check_text(text), name) for name in ("gloria-greedy", "gloria"))
    added = f"{text}; QUERY new RETURN COUNT(*) PATTERN SEQ(A, B, C) {SLIDING}"
    yield from _figures("change-all", f"{QUERIES} queries to another plan", greedy, running, 2.2)
    yield from _figures("change-add", f"a query more than {QUERIES}", running, changed(running, check_text(added)), 1.2)


def _figures(name: str, what: str, one: Plan, other: Plan, limit: float) -> Iterator[Figure]:
    table = stream(STEPS * RATE // 6)
    batches = [table.slice(n * RATE // 6, RATE // 6).combine_chunks().to_batches()[0] for n in range(STEPS)]
    runs = [_milliseconds(one, other, batches) for _ in range(TIMES)]
    taken = [min(some) for some in zip(*runs, strict=True)]
    before, begin, both, behind = (mean(taken[n] for n in some) for some in (BEFORE, BEGINNING, SIDE_BY_SIDE, BEHIND))
    detail = f"{before:.2f} ms a batch before, {both:.2f} ms side by side, {behind:.2f} ms behind"
    yield Figure(f"{name}-ratio", f"{what}, side by side", both / max(before, behind), limit, "times", detail)
    yield Figure(f"{name}-pause", f"{what}, to begin", len(BEGINNING) * (begin - both), 2 * QUERIES, "ms")


def _milliseconds(one: Plan, other: Plan, batches: Sequence[pa.RecordBatch]) -> list[float]:
    """Return the milliseconds of each batch."""
    engine = Engine(one, Clock.of(pa.int64(), "ms", {*one.spans, *other.spans}))
    taken = []
    for number, batch in enumerate(batches):
        begin = process_time()
        if number == BEGINNING.start:
            engine.change(other)
        engine.feed(batch)
        taken.append((process_time() - begin) * 1e3)
    return taken
