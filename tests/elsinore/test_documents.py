"""Test that the outputs in the README and the documents are what their commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.elsinore.documents import DOCUMENTS, Shown, clone, commands, printed_by, programs, stdout_of, write_files


class Terminal:
    """A folder in which commands of the documents are run in their order: later ones read files of earlier ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in DOCUMENTS:
            write_files(name, folder)
        self.outputs: list[str] = []

    def output(self, number: int) -> str:
        """Return the output of a command; run it, and those before it, unless they were."""
        for shown in COMMANDS[len(self.outputs) : number + 1]:
            self.outputs.append(stdout_of(shown.code, self.folder))
        return self.outputs[number]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return Terminal(clone(tmp_path_factory.mktemp("clone")))


# The first of them are those that `make test-fast` runs.
COMMANDS = [shown for name in DOCUMENTS for shown in commands(name) if not shown.served]
FIRST = 4


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=[pytest.mark.slow] if n >= FIRST else []) for n in range(len(COMMANDS))],
    ids=[str(shown) for shown in COMMANDS],
)
def test_a_command_prints_what_the_document_shows(number: int, terminal: Terminal) -> None:
    assert terminal.output(number) == COMMANDS[number].output


@pytest.mark.parametrize("shown", [shown for name in DOCUMENTS for shown in programs(name)], ids=str)
def test_a_program_prints_what_the_document_shows(shown: Shown) -> None:
    assert printed_by(shown.code) == shown.output
