"""Run the code cells of a notebook in a shell of IPython: `python -m tests.site.notebook FILE`.

Each output is printed by the name of its richest form. A cell that fails ends the process with its number.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RICHEST = ("image/svg+xml", "image/png", "text/html", "text/plain")


def cells(path: Path) -> list[str]:
    """Return the code of a notebook, cell by cell."""
    found = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def main(path: Path) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    make: Any = InteractiveShell
    shell = make()
    for number, code in enumerate(cells(path), start=1):
        done = shell.run_cell(code, store_history=False)
        if not done.success:
            raise SystemExit(f"cell {number} of {path.name} failed:\n{code}")
        if done.result is not None:
            forms, _ = shell.display_formatter.format(done.result)
            sys.stdout.write(f"{number} {next(form for form in RICHEST if form in forms)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
