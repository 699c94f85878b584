"""Test that every cell of the notebooks runs, that they show tables and plots, and that they hold no outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.elsinore.documents import search_path

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("IPython") is None, reason="notebooks need IPython, which the dev environment has")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.site.notebook", str(path)]
    environment = os.environ | {"PATH": search_path(), "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{done.stdout}"
    assert "text/html" in done.stdout
    assert "image/svg+xml" in done.stdout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells] == [([], None)] * len(cells)
