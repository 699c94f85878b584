"""The properties of this machine, and of this code, on which a figure may depend."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    packages = {name: version(name) for name in ("elsinore", "numba", "numpy", "polars", "pyarrow")}
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "commit": commit(),
        **packages,
    }


def processor() -> str:
    """Return the name of the processor, as Linux has it."""
    with suppress(OSError):
        if found := re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE):
            return found[1]
    return platform.processor() or platform.machine()


def commit() -> str:
    """Return the commit of this code, and whether files differ from it; empty outside of a repository."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""

    def said(*words: str) -> str:
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout.strip()

    with suppress(OSError, subprocess.CalledProcessError):
        changed = said("status", "--porcelain", "--untracked-files=no")
        return said("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")
    return ""
