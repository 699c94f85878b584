"""Test that `pip install elsinore` gives the local engine and the client, and errors name the missing extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from elsinore.extras import CLUSTER

WITHOUT = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {CLUSTER!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import elsinore
QUERY = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 minute SLIDE 1 minute"
EVENTS = [{{"type": name, "time": time}} for time, name in enumerate("ABB")]
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_one_process_needs_neither_ray_nor_spark(tmp_path: Path) -> None:
    done = run("print(elsinore.run(QUERY, EVENTS, engine='local').rows()[0]['COUNT(*)'])\nelsinore.connect", tmp_path)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_the_default_engine_runs_here_without_ray_and_spark(tmp_path: Path) -> None:
    code = "result = elsinore.run(QUERY, EVENTS, engine='auto')\nprint(result.engine, len(result))"
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "local 1\n"), done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "elsinore.run(QUERY, EVENTS, engine='ray')",
        "elsinore.stream(QUERY, '.', 'rows.jsonl', checkpoint='kept')",
        "from elsinore.cli import app; app(['serve'], standalone_mode=False)",
    ],
)
def test_what_is_missing_is_told_with_its_command(tmp_path: Path, code: str) -> None:
    done = run(code, tmp_path)
    assert done.returncode in (1, 2)
    assert "pip install 'elsinore[cluster]'" in done.stderr
