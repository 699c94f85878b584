"""Bad workloads and all that is said of them, word for word.

A file holds a workload and, below the line, its message. After a change that is meant,
ELSINORE_UPDATE_GOLDEN=1 writes the messages anew; read the difference before it goes in.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError

LINE = "\n----------------------------------------\n"
CASES = sorted((Path(__file__).parent / "golden").glob("*.txt"))


def test_there_are_enough() -> None:
    assert len(CASES) >= 45


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_message(path: Path) -> None:
    workload, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    with pytest.raises(WorkloadError) as caught:
        check_text(workload)
    message = f"{caught.value}\n"
    if os.environ.get("ELSINORE_UPDATE_GOLDEN"):
        path.write_text(f"{workload}{LINE}{message}", encoding="utf-8")
    else:
        assert message == expected
