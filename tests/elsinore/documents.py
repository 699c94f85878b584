"""Run what the documents show, and renew their outputs: `python -m tests.elsinore.documents`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "examples/README.md",
    "docs/commands.md",
    "docs/language.md",
    "docs/service.md",
    "docs/why.md",
)
SERVICE = 'elsinore.connect("http://localhost:8000"'
"""Text that a program contains if it uses a service; tests run one at another address."""

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(
    r"(^```python\n)((?:(?!```).*\n)*)(^```\n\n```text\n)((?:(?!```).*\n)*)(?=^```$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Shown:
    """A command or program, and the output that a document shows."""

    code: str
    output: str

    def __str__(self) -> str:
        return self.code.strip().splitlines()[-1]


def commands(document: str) -> Iterator[Shown]:
    """Yield each `$ command` of the console blocks, with the lines below it."""
    for block in CONSOLE.findall((ROOT / document).read_text()):
        yield from _commands(block)


def programs(document: str, served: bool = False) -> Iterator[Shown]:
    """Yield each Python block that a text block follows: those that use a service, or the others."""
    for _, code, _, output in PROGRAM.findall((ROOT / document).read_text()):
        if (SERVICE in code) == served:
            yield Shown(code, output)


def clone(folder: Path) -> Path:
    """Link the examples into a folder, where commands may leave files for later ones."""
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def stdout_of(command: str, folder: Path) -> str:
    """Return the output of a command in a folder; raise AssertionError if it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Rows do not depend on the engine, and this one starts quickly.
    environment = os.environ | {"PATH": path, "ELSINORE_ENGINE": "local"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed_by(program: str) -> str:
    """Return the output of a Python program."""
    with redirect_stdout(StringIO()) as printed:
        exec(compile(program, "README.md", "exec"), {})
    return printed.getvalue()


def _commands(block: str) -> Iterator[Shown]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield Shown(command, output)


def _rewritten(text: str, folder: Path) -> str:
    text = PROGRAM.sub(_with_output, text)
    return CONSOLE.sub(
        lambda found: "".join(f"$ {shown.code}\n{stdout_of(shown.code, folder)}" for shown in _commands(found[0])), text
    )


def _with_output(found: re.Match[str]) -> str:
    return found[0] if SERVICE in found[2] else f"{found[1]}{found[2]}{found[3]}{printed_by(found[2])}"


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        folder = clone(Path(place))
        for name in DOCUMENTS:
            document = ROOT / name
            document.write_text(_rewritten(document.read_text(), folder))
