"""What the documents show, to be compared with what happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """Something to run, and the output that a document promises."""

    code: str
    output: str

    def __str__(self) -> str:
        return self.code.strip().splitlines()[-1]


def commands(document: str) -> Iterator[Shown]:
    """Each `$ command` of the console blocks, with the lines below it."""
    for language, text in FENCE.findall((ROOT / document).read_text()):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Shown(command, output)


def programs(document: str) -> Iterator[Shown]:
    """Each python block, with the text block that follows it."""
    blocks = FENCE.findall((ROOT / document).read_text())
    for (language, code), (following, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            yield Shown(code, output if following == "text" else "")
