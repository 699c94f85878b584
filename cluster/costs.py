"""What bursts cost on this machine, where somebody has measured it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from connectors.errors import InputError
from planner.calibrated import CalibratedModel, Costs


def costs_file() -> Path:
    """`python -m benchmarks.calibrate` writes it."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "elsinore" / "costs.json"


def cost_model() -> CalibratedModel:
    """With this machine's costs, or those that Elsinore comes with."""
    path = costs_file()
    if not path.exists():
        return CalibratedModel()
    try:
        return CalibratedModel(Costs.from_dict(json.loads(path.read_text())))
    except (ValueError, TypeError, AttributeError) as error:
        hint = "remove it, or measure anew with python -m benchmarks.calibrate"
        raise InputError(f"{path} does not hold costs of bursts ({error}); {hint}") from None
