"""What the documents show, compared with what happens; `python -m tests.elsinore.documents` shows it anew."""

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
)
SERVICE = 'elsinore.connect("http://localhost:8000"'
"""What a program says that speaks with a service; tests have one elsewhere."""

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(
    r"(^```python\n)((?:(?!```).*\n)*)(^```\n\n```text\n)((?:(?!```).*\n)*)(?=^```$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Shown:
    """Something to run, and the output that a document promises."""

    code: str
    output: str

    def __str__(self) -> str:
        return self.code.strip().splitlines()[-1]


def commands(document: str) -> Iterator[Shown]:
    """Each `$ command` of the console blocks, with the lines below it."""
    for block in CONSOLE.findall((ROOT / document).read_text()):
        yield from _commands(block)


def programs(document: str, served: bool = False) -> Iterator[Shown]:
    """Each python block that a text block follows; those that speak with a service, or the others."""
    for _, code, _, output in PROGRAM.findall((ROOT / document).read_text()):
        if (SERVICE in code) == served:
            yield Shown(code, output)


def clone(folder: Path) -> Path:
    """A folder like a clone's, where commands may leave files for those that follow."""
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def stdout_of(command: str, folder: Path) -> str:
    """What a command prints in that folder; it must not fail."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Rows do not depend on what runs them, and this is quick.
    environment = os.environ | {"PATH": path, "ELSINORE_ENGINE": "local"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed_by(program: str) -> str:
    """What a Python program prints."""
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
