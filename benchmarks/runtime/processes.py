"""The cost of the processes of a run on Spark and Ray: processor time and memory, by role."""

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
    "ray::Dealer": "dealers",
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
"""Roles of processes, by a word of their command lines; the first word that occurs decides."""


def processor_ticks() -> Counter[str]:
    """Return the processor time of this process and its descendants up to now, by role, in ticks (`TICKS` a second)."""
    found: Counter[str] = Counter()
    for pid in family():
        found[role(pid)] += _ticks(pid)
    return found


def memory() -> Counter[str]:
    """Return the bytes in memory now, by role."""
    found: Counter[str] = Counter()
    for pid in family():
        found[role(pid)] += _resident(pid)
    return found


def private_memory() -> Counter[str]:
    """Return the bytes in memory now that no file or shared memory stands for, by role.

    Ray's object store is memory that all processes share: what one of them has read there counts as its own in
    `memory`, and goes on to do so when the object is gone.
    """
    found: Counter[str] = Counter()
    for pid in family():
        found[role(pid)] += _anonymous(pid)
    return found


def live_heaps() -> Counter[str]:
    """Return the bytes of reachable objects of Java processes, by role: garbage fills their heaps."""
    found: Counter[str] = Counter()
    for pid in family():
        if Path(_read(pid, "cmdline").partition("\0")[0]).name == "java":
            # Java collects unreachable objects before it counts.
            output = subprocess.run(
                ["jcmd", str(pid), "GC.class_histogram"], capture_output=True, text=True, check=False
            )
            total = [line.split() for line in output.stdout.splitlines() if line.startswith("Total")]
            found[role(pid)] += int(total[0][2]) if total else 0
    return found


def family() -> list[int]:
    """Return this process and all its descendants."""
    parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
    own, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in own} - own
        own, grown = own | more, bool(more)
    return sorted(own)


def role(pid: int) -> str:
    if pid == os.getpid():
        return "driver"
    command_line = _read(pid, "cmdline").replace("\0", " ")
    return next((what for word, what in ROLES.items() if word in command_line), "other")


def pids_of(what: str) -> list[int]:
    return [pid for pid in family() if role(pid) == what]


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _read(pid: int, name: str) -> str:
    """Return a file of a process from /proc; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    return _read(pid, "stat").rpartition(")")[2].split()


def _parent(pid: int) -> int | None:
    output = _stat(pid)
    return int(output[1]) if output else None


def _ticks(pid: int) -> int:
    output = _stat(pid)
    return int(output[11]) + int(output[12]) if output else 0


def _resident(pid: int) -> int:
    output = _read(pid, "statm").split()
    return int(output[1]) * PAGE if output else 0


def _anonymous(pid: int) -> int:
    lines = (line.split() for line in _read(pid, "status").splitlines() if line.startswith("RssAnon:"))
    return next((int(size) << 10 for _, size, _ in lines), 0)
