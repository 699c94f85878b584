"""The points of a benchmark that a command line names."""

from __future__ import annotations

import argparse
from collections.abc import Collection


def named_points(program: str, told: str | None, points: Collection[str]) -> list[str]:
    """Return the points that the command line of a module names, or all; end the program where there is no such one."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=told)
    parser.add_argument("points", nargs="*", metavar="POINT", help=", ".join(points))
    names: list[str] = parser.parse_args().points or [*points]
    if unknown := [name for name in names if name not in points]:
        parser.error(f"there is no point {unknown[0]}; there is {', '.join(points)}")
    return names
