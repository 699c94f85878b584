"""Measurement of value insertion: putting the values of snapshots in, query by query (GLORIA, Figure 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from elsinore.bench.gloria.sharing_plans import Planned
from elsinore.bench.points import RUNS, Metrics
from elsinore.bench.replay import DEFINITIONS, replay
from elsinore.bench.settings import SETTINGS
from elsinore.cluster.run.local import LocalRun

MORE = 100
"""Additional insertions of each value."""


@dataclass(frozen=True)
class Inserting(Planned):
    """A run of a plan that repeats insertions to time them: a clock in the kernel would cost more than an insertion."""

    insertions: int = 1

    definitions: ClassVar = DEFINITIONS | {
        "insertion_time": (
            "Seconds of processor time, in the mean over all panes: to find the values of snapshots for all queries "
            f"and to put them where evaluations read them. The stream is run with 1 and with {1 + MORE} insertions of "
            f"each value, the fastest of {RUNS} runs each; the time between both, by {MORE}."
        ),
        "sharing_time": "Seconds of processor time of all that the sharing plan does with events, with one insertion.",
    }

    def begun(self, run: LocalRun) -> None:
        for planned in run.engine.planned:
            planned.graph.insertions = self.insertions

    def noted(self, run: LocalRun) -> Metrics:
        return {"sharing_time": sum(planned.graph.seconds for planned in run.engine.planned)}

    def measured(self) -> Metrics:
        usual, events = super().measured(), self.events()
        once, often = (
            min(replay(replace(self, insertions=times), events)["sharing_time"] for _ in range(RUNS))
            for times in (1, 1 + MORE)
        )
        panes = self.minutes / SETTINGS[self.setting].pane
        return usual | {"sharing_time": once, "insertion_time": max(often - once, 0.0) / MORE / panes, "panes": panes}

    @staticmethod
    def told(measured: Sequence[Metrics]) -> str:
        parts = [100 * one["insertion_time"] * one["panes"] / one["spent"] for one in measured if one["snapshots"]]
        if not parts:
            return ""
        told = Planned.told(measured)
        return f"insertion is {min(parts):.2g}% to {max(parts):.2g}% of the time that the stream takes, {told}"
