"""Tests share helpers, not one another's modules."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
OF_A_TEST = re.compile(
    r"^\s*(?:from|import) +tests\.(?:\w+\.)*test_\w+|^\s*from +tests[\w.]* +import +.*\btest_", re.MULTILINE
)
"""Also in code that a test hands to another process."""


def imports_of_tests(text: str) -> list[str]:
    return [found.strip() for found in OF_A_TEST.findall(text)]


def test_no_module_imports_a_test() -> None:
    found = {path.relative_to(TESTS): imports_of_tests(path.read_text("utf-8")) for path in TESTS.rglob("*.py")}
    assert len(found) > 200
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_such_imports_are_found() -> None:
    for text in (
        "from tests.actors.hamlet.test_deciders import query",
        "import tests.test_api",
        "    from tests.planner import test_a",
    ):
        assert imports_of_tests(f"import os\n{text}\n"), text
    assert imports_of_tests("from tests.support.streams import batch\nfrom tests.vectors import CASES\n") == []
