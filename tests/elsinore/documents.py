"""Run what the documents show, and renew outputs, made sections and pictures: `python -m tests.elsinore.documents`.

A made section stands between the comments `<!-- made by NAME -->` and `<!-- end -->`; `tests/site/made.py` makes it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
FIRST = ("README.md", "examples/README.md")
"""Documents whose commands write files that commands of others read."""
DOCUMENTS = (*FIRST, *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")))
SERVICE = 'elsinore.connect("http://localhost:8000"'
"""Text that a program contains if it uses a service; tests run one at another address."""

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
ASKS = re.compile(r"elsinore (submit|send|results|jobs|add|drop|pause|resume|remove) ")
"""Commands that need a service; tests set its address in the environment."""
PROGRAM = re.compile(
    r"(^```python\n)((?:(?!```).*\n)*)(^```\n\n```text\n)((?:(?!```).*\n)*)(?=^```$)",
    re.MULTILINE,
)
MADE = re.compile(r"(?<=^<!-- made by )([\w -]+)( -->\n\n)(.*?)(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A command or program, and the output that a document shows."""

    code: str
    output: str

    def __str__(self) -> str:
        return self.code.strip().splitlines()[-1]

    @property
    def served(self) -> bool:
        """Return whether a command needs a service."""
        return ASKS.match(self.code) is not None


def commands(document: str) -> Iterator[Shown]:
    """Yield each `$ command` of the console blocks, with the lines below it."""
    for block in CONSOLE.findall((ROOT / document).read_text()):
        yield from _commands(block)


def write_files(document: str, folder: Path) -> None:
    """Write the blocks of a document that have a title to files of that name."""
    for name, content in FILE.findall((ROOT / document).read_text()):
        (folder / name).write_text(content)


def programs(document: str, served: bool = False) -> Iterator[Shown]:
    """Yield each Python block that a text block follows: those that use a service, or the others."""
    for _, code, _, output in PROGRAM.findall((ROOT / document).read_text()):
        if (SERVICE in code) == served:
            yield Shown(code, output)


def made_sections(document: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each section that is made from code."""
    yield from ((name, text) for name, _, text in MADE.findall((ROOT / document).read_text()))


def clone(folder: Path) -> Path:
    """Link the examples into a folder, where commands may leave files for later ones."""
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def search_path() -> str:
    """Return where commands are looked for: where this Python has its own, then where the shell looks."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def stdout_of(command: str, folder: Path) -> str:
    """Return the output of a command in a folder; raise AssertionError if it fails."""
    # Rows do not depend on the engine, and this one starts quickly.
    environment = os.environ | {"PATH": search_path(), "ELSINORE_ENGINE": "local"}
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
    from tests.site.made import made

    text = MADE.sub(lambda found: f"{found[1]}{found[2]}{made(found[1])}\n", text)
    text = PROGRAM.sub(_with_output, text)
    return CONSOLE.sub(lambda found: "".join(_renewed(shown, folder) for shown in _commands(found[0])), text)


def _renewed(shown: Shown, folder: Path) -> str:
    output = shown.output if shown.served else stdout_of(shown.code, folder)
    return f"$ {shown.code}\n{output}"


def _with_output(found: re.Match[str]) -> str:
    return found[0] if SERVICE in found[2] else f"{found[1]}{found[2]}{found[3]}{printed_by(found[2])}"


def main(names: Sequence[str]) -> None:
    """Renew all documents, or the named ones, whose commands then find no files of others."""
    from tests.site.pictures import write

    write()
    with TemporaryDirectory() as place:
        folder = clone(Path(place))
        for name in names or DOCUMENTS:
            document = ROOT / name
            write_files(name, folder)
            document.write_text(_rewritten(document.read_text(), folder))


if __name__ == "__main__":
    main(sys.argv[1:])
