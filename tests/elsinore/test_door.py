"""Test the import of `elsinore`: quick, light, and independent of a user's own `planner`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import elsinore

ROOT = Path(__file__).parents[2]
HEAVY = ("pyarrow", "numba", "numpy", "polars", "pandas", "lark", "typer", "rich", "httpx2", "msgpack")


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_importing_loads_nothing_heavy(tmp_path: Path) -> None:
    done = python("import elsinore, sys; print(sorted(sys.modules))", tmp_path)
    assert done.returncode == 0
    assert not [name for name in HEAVY if f"'{name}'" in done.stdout]


def test_importing_is_quick(tmp_path: Path) -> None:
    code = "import time; t = time.process_time(); import elsinore; print(time.process_time() - t)"
    assert min(float(python(code, tmp_path).stdout) for _ in range(3)) < 0.1


@pytest.mark.parametrize("name", elsinore.__all__)
def test_every_public_name_is_there_and_says_where_from(name: str) -> None:
    value = getattr(elsinore, name)
    if isinstance(value, type):
        assert value.__module__ == "elsinore"
    assert name in dir(elsinore)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        elsinore.rum  # noqa: B018


@pytest.mark.parametrize("shadow", ["planner.py", "connectors/__init__.py", "cluster/readme"])
def test_a_file_of_ones_own_may_be_called_like_a_room(tmp_path: Path, shadow: str) -> None:
    (tmp_path / shadow).parent.mkdir(exist_ok=True)
    (tmp_path / shadow).write_text("raise SystemExit('this was imported')")
    done = python("import elsinore; elsinore.check('RETURN COUNT(*) PATTERN A WITHIN 1 hour')", tmp_path)
    assert done.returncode == 0, done.stderr
