"""Test the cell magic `%%elsinore` in a shell of IPython."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import elsinore

ipython = pytest.importorskip("IPython", reason="cells need IPython, which the dev environment has")

QUERY = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds SLIDE 10 seconds"
EVENTS = [{"type": kind, "time": time} for time, kind in enumerate("ABB")]


@pytest.fixture
def shell() -> Iterator[Any]:
    made = ipython.core.interactiveshell.InteractiveShell()
    made.extension_manager.load_extension("elsinore")
    made.user_ns["events"] = EVENTS
    yield made
    made.history_manager.end_session()


def test_a_cell_is_run_over_a_variable(shell: Any) -> None:
    result = shell.run_cell_magic("elsinore", "events --into found", QUERY)
    assert isinstance(result, elsinore.Result)
    assert shell.user_ns["found"] is result
    assert [row["COUNT(*)"] for row in result.rows()] == [3]


def test_a_cell_without_events_shows_its_plan(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell_magic("elsinore", "", QUERY) is None
    assert capsys.readouterr().out.startswith("plan: strategy auto")


def test_a_mistake_is_shown_without_a_stack(shell: Any) -> None:
    with pytest.raises(ipython.core.error.UsageError, match="no variable or event type `C`"):
        shell.run_cell_magic("elsinore", "events", QUERY.replace("COUNT(*)", "COUNT(C)"))
    with pytest.raises(ipython.core.error.UsageError, match="neither a variable nor a file called nothing"):
        shell.run_cell_magic("elsinore", "nothing", QUERY)
    with pytest.raises(ipython.core.error.UsageError, match="unrecognized arguments: --stratgey"):
        shell.run_cell_magic("elsinore", "events --stratgey cogra", QUERY)
