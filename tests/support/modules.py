"""Find the modules of this project, whether a room is a package of its own or part of `elsinore`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("planner", "actors", "connectors", "cluster", "elsinore")
INSIDE = "elsinore." if (ROOT / "elsinore" / "planner").exists() else ""
"""Prefix of the names of modules of the other four rooms."""


def name_of(path: Path) -> str:
    """Return the name under which a file of a room is imported."""
    room, *parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join([room if room == "elsinore" else f"{INSIDE}{room}", *parts])


def files_of(room: str) -> list[Path]:
    """Return the files of a room; what `elsinore` has of other rooms by a link is not its own."""
    folder = ROOT / room
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if not any(one.is_symlink() for one in path.parents if one.is_relative_to(folder))
    ]


MODULES = {name_of(path): path for room in ROOMS for path in files_of(room)}
"""All modules of the five rooms, by name."""

KERNELS = [name for name in MODULES if name.endswith("_numba_fns")]
