"""Drawing the HAMLET graph of a workload over a few events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.actors.hamlet.recording import RecordingGraph
from elsinore.connectors.sources import open_events
from elsinore.drawing.drawing import Drawing
from elsinore.drawing.graph import draw_graph
from elsinore.errors import InputError
from elsinore.planner.hamlet.optimizer import Always
from elsinore.planner.kernels.interpreted import interpreting
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.kinds import HAMLET
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

MAX_EVENTS = 60
"""The most events in a drawing."""


def draw_events(workload: Workload, events: Any, reading: Mapping[str, Any]) -> Drawing:
    """Run the events through the first share set, and draw its HAMLET graph.

    Every burst is shared: the optimizer would hardly ever share bursts of so few events, so nothing would be drawn.
    """
    made = plan(workload, "hamlet")
    if not HAMLET.among(made.share_sets):
        raise InputError(
            "no two queries of this workload share bursts, so there is no graph to draw; `elsinore explain` says why"
        )
    options: dict[str, Any] = {"type_column": "type", "time_column": "time", "time_unit": "s"}
    source = open_events(events, **options | {"strict": False, "dead_letters": None} | dict(reading))
    clock = Clock.of(source.form, source.time_unit, made.spans)
    batches = list(source.batches(clock, made.columns))
    count = sum(_taken(batch, made.types) for batch in batches)
    if count > MAX_EVENTS:
        raise InputError(
            f"{count} events do not fit into a drawing; give at most {MAX_EVENTS} of the types in the workload"
        )
    engine = Engine(made, clock, optimizer=Always(), hamlet_graph=RecordingGraph)
    with interpreting():
        for batch in batches:
            engine.feed(batch)
        engine.finish()
    graph = engine.runs(HAMLET)[0].graph
    assert isinstance(graph, RecordingGraph)
    return draw_graph(graph.record)


def _taken(batch: pa.RecordBatch, types: frozenset[str]) -> int:
    return sum(name in types for name in batch.column(0).to_pylist())
