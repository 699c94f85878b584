"""Decompression bombs: at the service's default limits none of them takes much memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.service.bombs import BOMBS

MOST = 448 << 20
"""The most additional bytes that an append may take; a replica processes four at a time."""

QUICK = (
    *("empty objects", "empty objects behind a full one", "and in front of what Arrow does not read", "short lines"),
    *("arrays in an array", "msgpack of empty maps behind a full one", "msgpack of an array of nils"),
    *("Arrow of nulls", "Arrow of runs", "Arrow of runs of texts", "Arrow of coded texts", "Arrow of structures"),
)


def appended(folder: Path, *names: str) -> list[dict[str, Any]]:
    """Append these bodies in a process of their own, and return the outcomes."""
    command = [sys.executable, "-m", "tests.service.bombs", str(folder), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(found: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    assert [one["name"] for one in found] == list(names)
    for one in found:
        assert one["peak"] < MOST, one
        assert one["status"] in (202, 400, 413, 422), one
        assert one["status"] != 413 or any(word in one["said"] for word in ("send", "values", "bytes")), one


def test_a_small_body_takes_little_memory(tmp_path: Path) -> None:
    check(appended(tmp_path, *QUICK), QUICK)


@pytest.mark.long
def test_no_small_body_takes_much_memory(tmp_path: Path) -> None:
    check(appended(tmp_path), tuple(BOMBS))
