"""Sharing optimizers by strategy."""

from __future__ import annotations

from elsinore.planner.hamlet.benefit import CostModel
from elsinore.planner.hamlet.calibrated import CalibratedModel
from elsinore.planner.hamlet.optimizer import Dynamic, Expected, SharingOptimizer, Static

CALIBRATED = CalibratedModel()

EXPECTED = Expected(size=10, window=100, alike=1)
"""A guess for `hamlet-static`: bursts of some length whose events all queries take."""


def optimizer_of(strategy: str, model: CostModel = CALIBRATED) -> SharingOptimizer:
    """Return the optimizer that decides about the bursts of a strategy's share sets."""
    return Static(model, EXPECTED) if strategy == "hamlet-static" else Dynamic(model)
