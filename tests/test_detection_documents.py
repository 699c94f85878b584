"""What the page on the language shows of RETURN MATCHES is what the judge finds, while no engine runs it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import elsinore
from tests.elsinore.documents import printed_by
from tests.oracle.detection import matches
from tests.oracle.read import read

PAGE = Path(__file__).parents[1] / "docs" / "language.md"
BLOCK = r"```{}\n((?:(?!```).*\n)*)```\n"
MARK = r"\n<!-- rows of tests/oracle/detection.py.*-->\n\n"
JUDGED = re.compile(f"^{BLOCK.format('python')}{MARK}{BLOCK.format('text')}", re.MULTILINE)


@pytest.mark.parametrize("shown", JUDGED.findall(PAGE.read_text(encoding="utf-8")), ids=lambda shown: shown[0][-60:])
def test_the_page_shows_the_rows_of_the_judge(shown: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(query: str, events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        elsinore.check(query)
        return matches(read(query), events)

    monkeypatch.setattr(elsinore, "run", run)
    program, output = shown
    assert printed_by(program) == output
