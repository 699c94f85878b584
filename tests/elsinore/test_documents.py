"""The README and the examples say what a user will see; here it is seen."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.elsinore.documents import ROOT, Shown, commands, programs

DOCUMENTS = ("README.md", "examples/README.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a clone's, where commands may leave files for those that follow."""
    place = tmp_path_factory.mktemp("clone")
    (place / "examples").symlink_to(ROOT / "examples")
    return place


@pytest.mark.parametrize("shown", [shown for name in DOCUMENTS for shown in commands(name)], ids=str)
def test_a_command_prints_what_the_document_shows(shown: Shown, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", shown.code],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown.output


@pytest.mark.parametrize("shown", [shown for name in DOCUMENTS for shown in programs(name)], ids=str)
def test_a_program_prints_what_the_document_shows(shown: Shown) -> None:
    with redirect_stdout(StringIO()) as printed:
        exec(compile(shown.code, "README.md", "exec"), {})
    assert printed.getvalue() == shown.output
