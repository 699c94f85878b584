"""Read the costs of bursts and plans that were measured on this machine, if any."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from elsinore.connectors.errors import InputError
from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.hamlet.calibrated import CalibratedModel, Costs

C = TypeVar("C")


def costs_file() -> Path:
    """Return the file that `python -m benchmarks.costs.bursts` writes."""
    return _folder() / "costs.json"


def plan_costs_file() -> Path:
    """Return the file that `python -m benchmarks.costs.plans` writes."""
    return _folder() / "plan-costs.json"


def burst_costs() -> Costs:
    """Return the costs measured on this machine, or else Elsinore's defaults."""
    return _read(costs_file(), Costs.from_dict, Costs(), "costs of bursts", "bursts")


def plan_costs() -> PlanCosts:
    return _read(plan_costs_file(), PlanCosts.from_dict, PlanCosts(), "costs of plans", "plans")


def cost_model() -> CalibratedModel:
    return CalibratedModel(burst_costs())


def _folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "elsinore"


def _read(path: Path, made_of: Callable[[Any], C], default: C, what: str, benchmark: str) -> C:
    if not path.exists():
        return default
    try:
        return made_of(json.loads(path.read_text()))
    except (ValueError, TypeError, AttributeError) as error:
        hint = f"remove it, or measure anew with python -m benchmarks.costs.{benchmark}"
        raise InputError(f"{path} does not hold {what} ({error}); {hint}") from None
