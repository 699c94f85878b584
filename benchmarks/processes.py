"""What the processes of a run on Spark and Ray cost: processor seconds and memory, by what they do."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

ROLES = {
    "ray::GraphActor": "graph actors",
    "ray::OptimizerActor": "optimizer",
    "ray::Collector": "collector",
    "SparkSubmit": "Spark driver",
    "AppMaster": "RayDP",
    "raydp": "Spark executors",
    "io.ray.runtime.runner": "Spark executors",
    "raylet": "Ray",
    "gcs_server": "Ray",
    "ray::": "Ray",
    "ray/": "Ray",
}
"""By a word of their command lines, the first that fits."""


def processor_ticks() -> Counter[str]:
    """That this process and all that it began have used up to now, in parts of a second (`TICKS`)."""
    found: Counter[str] = Counter()
    for pid in family():
        found[role(pid)] += _ticks(pid)
    return found


def memory() -> Counter[str]:
    """Bytes in memory now."""
    found: Counter[str] = Counter()
    for pid in family():
        found[role(pid)] += _resident(pid)
    return found


def live_heaps() -> Counter[str]:
    """Bytes of objects that somebody holds, in Java's processes: what they were given fills up between two looks."""
    found: Counter[str] = Counter()
    for pid in family():
        if Path(_read(pid, "cmdline").partition("\0")[0]).name == "java":
            # To count objects, Java lets go of those that nobody holds.
            told = subprocess.run(["jcmd", str(pid), "GC.class_histogram"], capture_output=True, text=True, check=False)
            total = [line.split() for line in told.stdout.splitlines() if line.startswith("Total")]
            found[role(pid)] += int(total[0][2]) if total else 0
    return found


def family() -> list[int]:
    """This process, and all that descend from it."""
    parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
    own, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in own} - own
        own, grown = own | more, bool(more)
    return sorted(own)


def role(pid: int) -> str:
    if pid == os.getpid():
        return "driver"
    said = _read(pid, "cmdline").replace("\0", " ")
    return next((what for word, what in ROLES.items() if word in said), "other")


def pids_of(what: str) -> list[int]:
    return [pid for pid in family() if role(pid) == what]


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _read(pid: int, name: str) -> str:
    """Empty, where the process has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    return _read(pid, "stat").rpartition(")")[2].split()


def _parent(pid: int) -> int | None:
    told = _stat(pid)
    return int(told[1]) if told else None


def _ticks(pid: int) -> int:
    told = _stat(pid)
    return int(told[11]) + int(told[12]) if told else 0


def _resident(pid: int) -> int:
    told = _read(pid, "statm").split()
    return int(told[1]) * PAGE if told else 0
