"""Measurement of sharing plans over a stream for whose rates they were made (GLORIA, Sections 8.2 and 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from elsinore.bench.gloria.streams import both, bursty
from elsinore.bench.points import Metrics
from elsinore.bench.replay import Run
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.drift import Observed
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import PLANNED, plan


@dataclass(frozen=True)
class Planned(Run):
    """A run of a plan made for the stream's rates: by the paper's cost model, for `auto` by this engine's."""

    def planned(self, usual: Plan, seen: Observed) -> Plan:
        model = EngineCost if self.strategy == "auto" else PaperCost
        if self.strategy not in ("auto", *PLANNED):
            return usual
        within = max(query.query.within.length for query in usual.queries)
        return plan(check_text(self.workload), self.strategy, model(seen.per_window(within)))

    @staticmethod
    def remark(measured: Sequence[Metrics]) -> str:
        some = [metrics["snapshots"] for metrics in measured if metrics.get("bursts")]
        return f"{min(some):,} to {max(some):,} snapshots" if some else ""


@dataclass(frozen=True)
class Bursty(Planned):
    """A run of simple and complex queries over bursts of one length."""

    percent: float = 0.0
    """Percentage of complex queries."""
    burst: int = 100

    @property
    def workload(self) -> str:
        return both(self.queries, self.percent)

    def events(self) -> pa.Table:
        return bursty(round(self.rate * self.minutes), self.rate, self.burst)
