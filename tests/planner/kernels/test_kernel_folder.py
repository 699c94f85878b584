"""Kernels that are being compiled are told of, by whichever process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from elsinore.planner.kernels.kernel_folder import COMPILING

ASK = "from elsinore.planner.kernels.kernel_folder import compiling; print(compiling())"

COMPILE = f"""
import subprocess, sys
import numpy as np
from numba.core import event
from elsinore.actors.a_seq.forest_numba_fns import most_starts

class Asked(event.Listener):
    def on_start(self, _):
        subprocess.run([sys.executable, "-c", {ASK!r}], check=True)

    def on_end(self, _):
        pass

event.register("numba:compile", Asked())
print(most_starts(np.zeros(3, int), np.array([0, 3]), np.ones((1, 1), bool), np.zeros(1, int)), flush=True)
{ASK}
"""


def python(folder: Path, code: str) -> list[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    path = folder / "code.py"
    path.write_text(code)
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, path],
        env={**environment, "PYTHONPATH": str(root)},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


def test_while_a_kernel_is_compiled_others_know(tmp_path: Path) -> None:
    *asked, found, asked_behind = python(tmp_path, COMPILE)
    assert set(asked) == {"True"}
    assert (found, asked_behind) == ("3", "False")
    # The next process finds the machine code.
    assert python(tmp_path, COMPILE) == ["3", "False"]


def test_who_was_killed_does_not_compile_any_more(tmp_path: Path) -> None:
    assert python(tmp_path, ASK) == ["False"]
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / "elsinore" / "kernels" / f"{COMPILING}{ended.pid}").touch()
    assert python(tmp_path, ASK) == ["False"]
    (tmp_path / "elsinore" / "kernels" / f"{COMPILING}{os.getpid()}").touch()
    assert python(tmp_path, ASK) == ["True"]
