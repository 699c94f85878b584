"""Measure the capacities of the parts on this machine: whole runs on Spark and Ray, by the processor time of each role.

Four runs differ in the numbers of events, actors and batches, so that costs of events, of messages and of a run are
told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import ray

from benchmarks.runtime.between_nodes import needed_bytes
from benchmarks.runtime.processes import TICKS, processor_ticks
from benchmarks.scaling.model import Capacities
from elsinore.actors.shells.optimizer_actor import OptimizerActor, question
from elsinore.api import prepare
from elsinore.bench.machine import machine
from elsinore.cli.runs import answer
from elsinore.cluster.machines.costs import cost_model
from elsinore.cluster.run.local import LocalRun
from elsinore.cluster.run.ray_run import RayRun
from elsinore.connectors.ridesharing import write
from elsinore.inputs import checked
from elsinore.planner.hamlet.bursts import Bursts, Choices, Facts
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of

FEW, MANY = 2, 16
"""Numbers of actors that are compared."""

BATCHES, MORE_BATCHES = 8, 32

ROW_GROUPS = 8 * MORE_BATCHES

STRATEGY = "hamlet"
"""The strategy whose graph actors ask the optimizer actor about every burst."""

STORE_BYTES = 64 << 20

TIMES = 3

PART = 4
"""A shorter stream has one of so many events."""


@dataclass(frozen=True)
class Spent:
    """The processor seconds of a run by role, and its counters."""

    seconds: dict[str, float]
    blocks: int
    batches: int
    actors: int
    questions: int
    bursts: int
    rows: int

    def of(self, role: str) -> float:
        return self.seconds.get(role, 0.0)

    @property
    def messages(self) -> int:
        return self.actors * self.batches


def measure(workload: Path, events: int) -> Capacities:
    """Measure the parts with a workload of rides."""
    with TemporaryDirectory() as folder:
        rides, start = Path(folder) / "rides.parquet", Path(folder) / "start.parquet"
        _write(rides, events)
        _write(start, events // PART)
        short = _spent(workload, start, FEW, events // PART // BATCHES)
        few = _spent(workload, rides, FEW, events // BATCHES)
        many = _spent(workload, rides, MANY, events // BATCHES)
        longer = _spent(workload, rides, FEW, events // MORE_BATCHES)
        asking, deciding = _deciding(workload, rides)
        event_bytes = needed_bytes(checked(workload.read_text()), rides) / events
    cpu = machine()
    messages, objects = many.messages - few.messages, many.blocks * MANY - few.blocks * FEW

    def by_message(role: str) -> float:
        return max(0.0, many.of(role) - few.of(role)) / messages

    def by_event(role: str) -> float:
        return max(0.0, few.of(role) - short.of(role)) / (events - events // PART)

    def by_row(role: str) -> float:
        return max(0.0, few.of(role) - short.of(role)) / (few.rows - short.rows)

    return Capacities(
        workload=str(workload),
        machine=f"{cpu['processor']}, {cpu['cores']} cores, {cpu['when'][:10]}",
        spark_event_ns=by_event("Spark executors") * 1e9,
        spark_block_us=max(0.0, longer.of("Spark driver") - few.of("Spark driver"))
        / (longer.blocks - few.blocks)
        * 1e6,
        store_byte_ns=_storing() * 1e9,
        dealer_event_ns=by_event("dealers") * 1e9,
        dealer_object_us=max(0.0, many.of("dealers") - few.of("dealers")) / objects * 1e6,
        actor_event_ns=by_event("graph actors") * 1e9,
        actor_batch_us=by_message("graph actors") * 1e6,
        optimizer_question_us=asking * 1e6,
        optimizer_burst_ns=deciding * 1e9,
        collector_row_us=by_row("collector") * 1e6,
        collector_answer_us=by_message("collector") * 1e6,
        driver_call_us=by_message("driver") * 1e6,
        driver_row_us=by_row("driver") * 1e6,
        event_bytes=event_bytes,
        bursts_per_event=few.bursts / events,
        questions_per_batch=many.questions / many.messages,
        rows_per_event=few.rows / events,
    )


def _write(path: Path, events: int) -> None:
    """Write rides in so small groups of rows that Spark can read each slice in several blocks."""
    write(path, events, seed=1)
    pq.write_table(pq.read_table(path), path, row_group_size=events // ROW_GROUPS)


def _spent(workload: Path, rides: Path, actors: int, slice_events: int) -> Spent:
    """Return what the cheapest of several runs took; the first one starts the actors and compiles their kernels."""
    found = [_once(workload, rides, actors, slice_events) for _ in range(TIMES)]
    return min(found[1:], key=lambda one: sum(one.seconds.values()))


def _once(workload: Path, rides: Path, actors: int, slice_events: int) -> Spent:
    given: dict[str, Any] = {"actors": actors, "hand_over": "dealt", "slice_events": slice_events}
    reading: dict[str, Any] = {"lateness": 0, "time_unit": "s", "settings": given}
    job = prepare(workload.read_text(), rides, engine="ray", strategy=STRATEGY, numeric="exact", **reading)
    before = processor_ticks()
    answer(job, str(rides.with_name("rows.parquet")), approximate=False)
    seconds = {role: ticks / TICKS for role, ticks in (processor_ticks() - before).items()}
    assert isinstance(job.run, RayRun)
    handed, metrics = job.run.handed, job.run.metrics
    blocks = sum(len(one.partitions) for one in handed.values())
    return Spent(seconds, blocks, len(handed) + 1, actors, metrics.questions, metrics.bursts, metrics.rows)


class _Listening:
    """An optimizer that keeps the questions that it is asked."""

    def __init__(self, optimizer: SharingOptimizer) -> None:
        self.optimizer = optimizer
        self.asked: list[tuple[Facts, Bursts]] = []

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        self.asked.append((facts, bursts))
        return self.optimizer.decide(facts, bursts)


def _deciding(workload: Path, rides: Path) -> tuple[float, float]:
    """Return the seconds that the optimizer actor takes for a question, and for each burst in it."""
    given: dict[str, Any] = {"lateness": 0, "time_unit": "s", "settings": {"cores": 1}}
    job = prepare(workload.read_text(), rides, engine="local", strategy=STRATEGY, numeric="exact", **given)
    policy = optimizer_of(job.run.plan.strategy, cost_model())
    listening, actor = _Listening(policy), OptimizerActor(policy)
    for _ in LocalRun(job.run.plan, job.run.source, optimizer=listening, whole=True):
        pass
    samples = [(len(asked[1].size), _fastest(actor.decide, question(*asked))) for asked in listening.asked]
    sizes, seconds = (np.array(column, float) for column in zip(*samples, strict=True))
    slope, base = np.polyfit(sizes, seconds, 1)
    return max(base, 0.0), max(slope, 0.0)


def _fastest(action: Callable[[bytes], object], argument: bytes) -> float:
    found = []
    for _ in range(TIMES):
        begin = process_time()
        action(argument)
        found.append(process_time() - begin)
    return min(found)


def _storing() -> float:
    """Return the seconds for a byte that a process puts into the object store."""
    block = np.ones(STORE_BYTES, np.uint8)
    return _fastest(lambda _: ray.put(block), b"") / STORE_BYTES
