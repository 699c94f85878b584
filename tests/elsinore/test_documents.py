"""Test that the outputs in the README and the documents are what their commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.elsinore.documents import DOCUMENTS, Shown, clone, commands, printed_by, programs, stdout_of, write_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = clone(tmp_path_factory.mktemp("clone"))
    for name in DOCUMENTS:
        write_files(name, made)
    return made


# Later commands read files of earlier ones, so the first of them are those that `make test-fast` runs.
COMMANDS = [shown for name in DOCUMENTS for shown in commands(name) if not shown.served]
FIRST = 4


@pytest.mark.parametrize(
    "shown",
    [pytest.param(shown, marks=[pytest.mark.slow] if n >= FIRST else []) for n, shown in enumerate(COMMANDS)],
    ids=[str(shown) for shown in COMMANDS],
)
def test_a_command_prints_what_the_document_shows(shown: Shown, folder: Path) -> None:
    assert stdout_of(shown.code, folder) == shown.output


@pytest.mark.parametrize("shown", [shown for name in DOCUMENTS for shown in programs(name)], ids=str)
def test_a_program_prints_what_the_document_shows(shown: Shown) -> None:
    assert printed_by(shown.code) == shown.output
