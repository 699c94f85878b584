"""A test without the mark `ray` fails at once if it starts Ray, in its own process or in another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import ray

import elsinore

REFUSED = "give it the mark `ray`"


def test_it_cannot_start_ray() -> None:
    try:
        with pytest.raises(RuntimeError, match=REFUSED):
            ray.init(num_cpus=1)
    finally:
        ray.shutdown()


def test_nor_a_session_with_spark(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("type,time\nA,1\n")
    text = "QUERY q RETURN COUNT(*) PATTERN A+ WITHIN 1 minute SLIDE 1 minute"
    with pytest.raises(RuntimeError, match=REFUSED):
        elsinore.run(text, tmp_path / "events.csv", engine="ray")


def test_nor_can_a_process_that_it_starts() -> None:
    command = [sys.executable, "-c", "import ray; ray.init(num_cpus=1)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert REFUSED in done.stderr
