"""A clone of this repository is all that its tests, examples and benchmarks need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("elsinore", "planner", "actors", "connectors", "cluster", "tests", "examples", "benchmarks", "loadtest")
SOURCES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def climbed(node: ast.AST) -> int:
    """Return how many folders an expression such as `Path(__file__).parents[2].parent` goes up from its module."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
        return climbed(node.value.value) + int(ast.literal_eval(node.slice)) + 1
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        return climbed(node.value) + 1
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "resolve":
        return climbed(node.func.value)
    return 0


def outside(module: str, text: str) -> Iterator[str]:
    """Yield the expressions of a module that name a folder above the repository."""
    depth = len(Path(module).parts)
    for node in ast.walk(ast.parse(text)):
        if "__file__" in ast.unparse(node) and climbed(node) > depth:
            yield ast.unparse(node)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_outside_of_the_repository_is_read(path: Path) -> None:
    assert list(outside(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("tests/a.py", "Path(__file__).parents[2]"),
        ("tests/a.py", "Path(__file__).parent.parent.parent"),
        ("tests/oracle/a.py", "Path(__file__).resolve().parents[3]"),
    ],
)
def test_a_path_that_leaves_the_repository_is_found(module: str, text: str) -> None:
    assert list(outside(module, f"FOLDER = {text} / 'vectors'")) == [text]
    assert list(outside(f"tests/{module}", f"FOLDER = {text} / 'vectors'")) == []
