"""Plans are those of the scripts in `tests/planner/plans`, stage by stage, and so are their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planner.plans import SCRIPTS, Script


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_script(path: Path) -> None:
    text = path.read_text("utf-8")
    assert str(Script.read(text).played()) == text


def test_a_script_shows_rows_and_a_plan_of_everything() -> None:
    assert len(SCRIPTS) >= 12
    for path in SCRIPTS:
        commands = [command.split()[0] for command, _ in Script.read(path.read_text("utf-8")).sections]
        assert commands[0] == "workload", path.name
        assert {"checked", "machines", "events", "rows"} <= {*commands}, path.name
        assert {"share", "refused"} & {*commands}, path.name


def test_an_output_that_is_not_so_is_found() -> None:
    script = Script.read(SCRIPTS[0].read_text("utf-8"))
    sections = tuple((command, body if command == "workload" else "?") for command, body in script.sections[:2])
    assert str(Script(script.about, sections).played()) != str(Script(script.about, sections))
