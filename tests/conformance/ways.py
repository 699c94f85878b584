"""Ways to run a workload: the strategies that make a kind of share set, and plans and decisions that are drawn.

What a test changes inside of the product stands here, and nowhere else in this folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import pyarrow as pa

import elsinore.actors.a_seq.forest_graph
import elsinore.actors.gloria.graph
from elsinore.actors.engine import Engine
from elsinore.cluster.run.local import LocalRun
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of
from elsinore.connectors.sources import open_events
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.optimizers import OPTIMIZERS
from elsinore.planner.gloria.sets import planned_sets
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.auto import decided
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import PLANNED, plan
from elsinore.planner.time.clock import Clock
from elsinore.result import Result
from tests.oracle.compare import Numeric
from tests.planner.gloria import plans as sharing_plans
from tests.support.deciders import Drawn

SNAPSHOTS = (1, 3, 16)
"""Of a chain of a planned graph: with few, chains are settled again and again."""
ROWS = (1, 4, 1024)
"""Of a forest: with few, it is made larger again and again."""
COSTS = {
    "decided": PlanCosts(),
    "anew": PlanCosts(loop=1e9, value=0.0),
    "alone": PlanCosts(loop=1e9, value=1e9, own=0.0, step=0.0),
}
"""By which the bursts of a planned graph are run in one way or another."""


@lru_cache
def checked(text: str) -> Workload:
    """Return a checked workload, which several ways to run it share."""
    return check_text(text)


@dataclass(frozen=True)
class Way:
    """A plan, and what decides while it runs."""

    name: str
    plan: Plan
    optimizer: SharingOptimizer | None = None
    seed: int = 0

    def run(self, text: str, events: Any, numeric: Numeric = "exact", lateness: int = 0) -> Result:
        """Do what `elsinore.run` does, with this plan."""
        columns = columns_of(checked(text))
        local = LocalRun(
            self.plan,
            open_events(events),
            numeric=numeric,
            lateness=Fraction(lateness),
            optimizer=self.optimizer,
            record_decisions=True,
        )
        with self._small():
            parts = list(local)
        rows, form = answers(parts, columns, local.clock), bounds_type(local.clock)
        return Result(rows, columns, form, numeric == "approximate", local.metrics, pa.table({}), local.decisions)

    def engine(self, clock: Clock) -> Engine:
        with self._small():
            return Engine(self.plan, clock, optimizer=self.optimizer)

    def restored(self, state: bytes) -> Engine:
        with self._small():
            return Engine.restore(self.plan, state, self.optimizer)

    @contextmanager
    def _small(self) -> Iterator[None]:
        """Give graphs so little room at first that they have to make more."""
        with (
            patch.object(elsinore.actors.gloria.graph, "SNAPSHOTS", SNAPSHOTS[self.seed % len(SNAPSHOTS)]),
            patch.object(elsinore.actors.a_seq.forest_graph, "SNAPSHOT_ROWS", ROWS[self.seed % len(ROWS)]),
        ):
            yield


def by_strategy(text: str, *strategies: str, seed: int = 0) -> list[Way]:
    return [Way(strategy, plan(checked(text), strategy), seed=seed) for strategy in strategies]


def of_hamlet(text: str, seed: int) -> list[Way]:
    """Whatever this machine was found to be good at."""
    made = plan(checked(text), "hamlet")
    deciders = {"hamlet": optimizer_of("hamlet"), "static": optimizer_of("hamlet-static"), "drawn": Drawn(seed)}
    return [Way(name, made, decider) for name, decider in deciders.items()]


def of_gloria(text: str, seed: int) -> list[Way]:
    drawn = drawn_plan(text, seed)
    found = [*by_strategy(text, "auto", *PLANNED, seed=seed), Way("drawn", drawn, seed=seed)]
    for name, costs in COSTS.items():
        sets = tuple(decided(one, costs) for one in drawn.share_sets)
        found.append(Way(name, replace(drawn, share_sets=sets), seed=seed))
    return found


def drawn_plan(text: str, seed: int) -> Plan:
    """Return a plan of the workload whose sharing plan is drawn."""
    queries = plan(checked(text), "cogra").queries
    with patch.dict(OPTIMIZERS, drawn=sharing_plans.Drawn(seed)):
        return Plan("gloria", queries, *planned_sets(queries, "drawn"))
