"""What one process does: run a workload over streams that are made up for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.api import run
from elsinore.connectors.sources import open_events
from elsinore.errors import WorkloadError
from elsinore.inputs import checked
from elsinore.matching import matches
from elsinore.planner.kernels.compiled import kernels_compiled
from elsinore.planner.kernels.interpreted import compile_always
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.strategies import check_strategy
from elsinore.planner.time.clock import Clock
from elsinore.warming.samples import CHOSEN
from elsinore.warming.streams import TIME, TYPE, UNIT, Shape, made_up
from elsinore.warming.tasks import Task

MOST_MATCHES = 100_000

CORES = 2
"""Threads of a run over a stream that is long enough for several."""


@dataclass(frozen=True)
class Report:
    """What has come of a task."""

    task: Task
    kernels: int
    """Kernels that this process compiled for it."""
    problem: str | None
    """Why the workload could not be run to its end, if so; strategies to compare with have limits."""


def perform(task: Task) -> Report:
    """Run a task, and note that it is done."""
    compile_always()
    before = kernels_compiled()
    workload = checked(task.text)
    problem = None
    for strategy in task.strategies:
        if _runs(workload, strategy):
            for shape in task.shapes:
                failed = _run(task, workload, strategy, shape)
                problem = problem or (failed if strategy in CHOSEN else None)
    task.note()
    return Report(task, kernels_compiled() - before, problem)


def _runs(workload: Workload, strategy: str) -> bool:
    try:
        check_strategy(workload, strategy)
    except WorkloadError:
        return False
    return True


def _run(task: Task, workload: Workload, strategy: str, shape: Shape) -> str | None:
    """Run a workload, with its decisions recorded and without; return what prevented it."""
    events = made_up(workload, shape)
    reading: Any = {"type_column": TYPE, "time_column": TIME, "time_unit": UNIT}
    limits: Any = {"most_matches": MOST_MATCHES, "cores": CORES}
    try:
        for recorded in (False, True):
            run(
                task.text, events, engine="local", strategy=strategy, numeric=task.numeric, decisions=recorded,
                **reading, **limits,
            )  # fmt: skip
        if shape.least:
            _observed(workload, strategy, events, reading)
        if task.counted:
            found = matches(task.text, events, **reading)
            for query in workload.queries:
                found.count(query.name)
                found.page(0, 10, query.name)
                found.sample(10, query=query.name)
    except WorkloadError as error:
        return str(error)
    return None


def _observed(workload: Workload, strategy: str, events: pa.Table, reading: Any) -> None:
    """Run a workload as graph actors do, which count statistics."""
    source = open_events(events, **reading)
    made = plan(workload, strategy)
    clock = Clock.of(source.form, source.time_unit, made.spans)
    engine = Engine(made, clock)
    for batch in source.batches(clock, engine.columns):
        engine.feed(batch)
