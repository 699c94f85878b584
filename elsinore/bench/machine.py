"""The properties of this machine on which a figure may depend."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any


def machine() -> dict[str, Any]:
    packages = {name: version(name) for name in ("elsinore", "numba", "numpy", "polars", "pyarrow")}
    load = os.getloadavg()[0]
    when = datetime.now(UTC).isoformat(timespec="seconds")
    cores = os.cpu_count()
    return {"when": when, "system": platform.platform(), "cores": cores, "load": load, **packages}
