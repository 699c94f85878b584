"""Kernels that Python runs give the rows of compiled ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.modules import ROOT

SMALL = """
import elsinore
from elsinore.planner.kernels import compiled, interpreted
interpreted.COMPILE_SECONDS = {seconds}
events = [{{"type": "AB"[n % 2], "time": n}} for n in range({events})]
query = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN {within} seconds SLIDE 1000 seconds"
print(elsinore.run(query, events, engine="local").to_arrow()["COUNT(*)"].to_pylist()[0], compiled.kernels_compiled())
"""


def without_machine_code(folder: Path, *words: str) -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, *words], env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


@pytest.mark.slow
def test_rows_of_the_vectors(tmp_path: Path) -> None:
    wrong, compiled, cases = json.loads(without_machine_code(tmp_path, "-m", "tests.support.interpreting"))
    assert (wrong, compiled) == ([], 0)
    assert cases > 300


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "events", "within", "compiles"),
    [(5, 10, 1000, False), (0, 10, 1000, True), (5, 10, 200_000_000, True)],
    ids=["few events", "a kernel that took long", "many windows"],
)
def test_what_takes_long_is_compiled(tmp_path: Path, seconds: int, events: int, within: int, compiles: bool) -> None:
    program = SMALL.format(seconds=seconds, events=events, within=within)
    count, kernels = map(int, without_machine_code(tmp_path, "-c", program).split())
    assert (count > 0, kernels > 0) == (True, compiles)
