"""Measurement of an optimizer's time and memory for planning a workload, without events."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import ClassVar, Literal

from elsinore.bench.gloria.workloads import BACKBONES, KLEENES, LENGTH, LONGEST, SHORTEST, mixed, statistics
from elsinore.bench.points import REPETITION, Metrics, Point, repeated
from elsinore.planner.checks.check import check_text
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.optimizers import sharing_plans
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.planning import plan

MODEL = PaperCost(statistics())

SEQUENCES = (
    f"sequences of {SHORTEST} to {LONGEST} types, parts of {BACKBONES} longer ones of {LENGTH} types; half of them "
    "begin, and half of them end, with a type that few others have"
)
LOOPS = f"with one of {KLEENES} Kleene sub-patterns, flat and nested in turn, and sequences around it"
SETTINGS = {
    "SEQ": f"made-up {SEQUENCES}",
    "Kleene": f"made-up queries {LOOPS}",
    "Mixed": f"made-up {SEQUENCES}. Queries {LOOPS}; these Kleene sub-patterns are of 2 to 4 types",
}
"""Descriptions of the settings; in all of them a type has 1 to 100 events in a window."""


@dataclass(frozen=True)
class Planning(Point):
    """A run of an optimizer over a workload."""

    percent: float
    """Percentage of queries with Kleene."""
    length: int | None = None
    """Types of a Kleene sub-pattern; None for 2 to 4 at random."""
    metric: Literal["optimization_time", "memory"] = "optimization_time"
    """The metric to measure; not both at once, because tracing memory takes several times as long as planning."""

    limit: ClassVar = 300.0
    definitions: ClassVar = {
        "optimization_time": (
            "Seconds of processor time from checked queries to their sharing plans: templates, graphs, the search in "
            "them, and (Greedy has none of it) the settling of the path that was found."
        ),
        "memory": "Bytes: the most that Python's objects took up meanwhile (tracemalloc), more than before.",
        "templates": "Of the workload: queries of different templates have nothing to share.",
        "nodes": "Of all graphs: transition sharing plans, those that were pruned among them.",
        "cost": "What the plans cost, by the paper's cost model.",
        "apart": (
            "What it costs to run the same queries one by one, by the same model. Queries that have nothing to share "
            "with any other are in neither."
        ),
        "repetition": f"{REPETITION} Memory is traced in one run.",
    }

    @property
    def what(self) -> str:
        return SETTINGS[self.setting]

    def measured(self) -> Metrics:
        queries = planned(mixed(self.queries, self.percent / 100, self.length))
        if self.metric == "memory":
            return traced(queries, self.strategy)
        runs = repeated(partial(timed, queries, self.strategy), self.metric)
        return min(runs, key=lambda run: run[self.metric])

    @staticmethod
    def remark(measured: Sequence[Metrics]) -> str:
        if not measured:
            return ""
        costs = [100 * metrics["cost"] / metrics["apart"] for metrics in measured]
        nodes = [metrics["nodes"] for metrics in measured]
        return (
            f"plans cost {min(costs):.0f}% to {max(costs):.0f}% of running all queries apart, graphs have "
            f"{min(nodes):,} to {max(nodes):,} nodes"
        )


def planned(texts: Sequence[str]) -> tuple[QueryPlan, ...]:
    return plan(check_text("; ".join(texts)), "cogra").queries


def timed(queries: tuple[QueryPlan, ...], optimizer: str) -> Metrics:
    begin = process_time()
    made, _ = sharing_plans(queries, MODEL, optimizer)
    return {"optimization_time": process_time() - begin} | _worth(made)


def traced(queries: tuple[QueryPlan, ...], optimizer: str) -> Metrics:
    tracemalloc.start()
    try:
        made, _ = sharing_plans(queries, MODEL, optimizer)
        return {"memory": tracemalloc.get_traced_memory()[1]} | _worth(made)
    finally:
        tracemalloc.stop()


def _worth(made: Sequence[SharingPlan]) -> Metrics:
    return {
        "templates": len(made),
        "nodes": sum(len(pool.nodes) for one in made for pool in one.graph.pools),
        "cost": sum(one.cost for one in made),
        "apart": sum(one.apart for one in made),
    }
