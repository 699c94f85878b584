"""Sharing optimizers by strategy."""

from __future__ import annotations

from elsinore.planner.hamlet.benefit import CostModel
from elsinore.planner.hamlet.calibrated import CalibratedModel
from elsinore.planner.hamlet.optimizer import Dynamic, Expected, SharingOptimizer, Static

CALIBRATED = CalibratedModel()

EXPECTED = Expected(size=10, window=100, alike=1)
"""What a workload's author may hope of a stream: bursts of some length whose events all queries take."""


def optimizer_of(strategy: str, model: CostModel = CALIBRATED) -> SharingOptimizer:
    """What decides about the bursts of a strategy's share sets."""
    return Static(model, EXPECTED) if strategy == "hamlet-static" else Dynamic(model)
