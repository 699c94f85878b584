"""Find the modules of this project and what they import, whether a room is a package of its own or part of `elsinore`.

Names here are plain: `planner.plans.planning`, also where that is imported as `planner.plan`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOUR = ("planner", "actors", "connectors", "cluster")
ROOMS = (*FOUR, "elsinore")
INSIDE = "elsinore." if (ROOT / "elsinore" / "planner").exists() else ""
"""Prefix of the names of modules of the other four rooms where they are imported."""


def files_of(folder: Path) -> list[Path]:
    """Return the modules in a folder, without those that are only linked into it."""
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if not any(one.is_symlink() for one in path.parents if one.is_relative_to(folder))
    ]


def plain_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def plain(name: str) -> str:
    """Return the plain form of the name by which a module is imported."""
    first, _, others = name.partition(".")
    return others if first == "elsinore" and others.partition(".")[0] in FOUR else name


def imported_as(name: str) -> str:
    """Return the name by which a module is imported."""
    return name if room_of(name) == "elsinore" else f"{INSIDE}{name}"


def room_of(name: str) -> str:
    return plain(name).partition(".")[0]


FILES = {plain_name(path): path for room in ROOMS for path in files_of(ROOT / room)}
"""All modules of the five rooms, by plain name."""

MODULES = {imported_as(name): path for name, path in FILES.items()}
"""The same modules, by the names under which they are imported."""

KERNELS = [name for name in MODULES if name.endswith("_numba_fns")]


@cache
def imports(path: Path, *, later: bool = True) -> frozenset[str]:
    """Return the modules that a file imports: the project's by plain name, others as they are written.

    Without `later`, return only those that are imported along with it, not in functions nor for a type checker.
    """
    nodes = _statements(ast.parse(path.read_bytes()), later)
    return frozenset(plain(name) for node in nodes for name in _named(node, path) if not _is_value(name))


def _statements(node: ast.AST, later: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.expr):
            continue
        elif later or not (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or _typing(child)):
            yield from _statements(child, later)


def _typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _named(node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    origin = node.module or ""
    if node.level:
        package = path.relative_to(ROOT).parts[: -node.level]
        origin = ".".join([*package, *([node.module] if node.module else [])])
    submodules = [one for alias in node.names if plain(one := f"{origin}.{alias.name}") in FILES]
    yield from submodules
    if len(submodules) < len(node.names):
        yield origin


def _is_value(name: str) -> bool:
    return room_of(name) in ROOMS and plain(name) not in FILES


def reached(names: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Return these modules and all that they import, directly or indirectly."""
    found = set[str]()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges.get(name, ())
    return found


def cycles(edges: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """Return the sets of modules that all import each other, directly or indirectly."""
    from_each = {name: reached(edges[name], edges) for name in edges}
    found: list[set[str]] = []
    for name in edges:
        if name in from_each[name] and not any(name in one for one in found):
            found.append({other for other in from_each[name] if name in from_each.get(other, ())})
    return found
