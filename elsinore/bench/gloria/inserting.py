"""Measurement of value insertion: putting the values of snapshots in, query by query (GLORIA, Figure 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from elsinore.actors.gloria.graph import PlanGraph
from elsinore.bench.gloria.sharing_plans import Planned
from elsinore.bench.points import RUNS, Metrics
from elsinore.bench.replay import DEFINITIONS, replay
from elsinore.bench.settings import SETTINGS
from elsinore.cluster.run.local import LocalRun
from elsinore.planner.plans.kinds import PLANNED

EXTRA_INSERTIONS = 100
"""Additional insertions of each value."""


def plan_graphs(run: LocalRun) -> list[PlanGraph]:
    """Return the graphs that run sharing plans."""
    return [one.graph for one in run.engines[0].runs(PLANNED)]


@dataclass(frozen=True)
class Inserting(Planned):
    """A run of a plan that repeats insertions to time them: a clock in the kernel would cost more than an insertion."""

    insertions: int = 1

    definitions: ClassVar = DEFINITIONS | {
        "insertion_time": (
            "Seconds of processor time, in the mean over all panes: to find the values of snapshots for all queries "
            "and to put them where evaluations read them. The stream is run with 1 and with "
            f"{1 + EXTRA_INSERTIONS} insertions of each value, the fastest of {RUNS} runs each; the difference, "
            f"divided by {EXTRA_INSERTIONS}."
        ),
        "sharing_time": "Seconds of processor time of all that the sharing plan does with events, with one insertion.",
    }

    def begun(self, run: LocalRun) -> None:
        for graph in plan_graphs(run):
            graph.insertions = self.insertions

    def noted(self, run: LocalRun) -> Metrics:
        return {"sharing_time": sum(graph.seconds for graph in plan_graphs(run))}

    def measured(self) -> Metrics:
        usual, events = super().measured(), self.events()
        once, often = (
            min(replay(replace(self, insertions=times), events)["sharing_time"] for _ in range(RUNS))
            for times in (1, 1 + EXTRA_INSERTIONS)
        )
        panes = self.minutes / SETTINGS[self.setting].pane
        return usual | {
            "sharing_time": once,
            "insertion_time": max(often - once, 0.0) / EXTRA_INSERTIONS / panes,
            "panes": panes,
        }

    @staticmethod
    def remark(measured: Sequence[Metrics]) -> str:
        parts = [100 * one["insertion_time"] * one["panes"] / one["spent"] for one in measured if one["snapshots"]]
        if not parts:
            return ""
        remark = Planned.remark(measured)
        return f"insertion is {min(parts):.2g}% to {max(parts):.2g}% of the time that the stream takes, {remark}"
