"""The cell magic `%%elsinore`: a workload as a cell of a notebook, run over events of the notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from elsinore.api import NUMERICS, check, explain, run
from elsinore.errors import EventError, FailedError, InputError, WorkloadError

NAME = "elsinore"


def register(shell: Any) -> None:
    """Add the magic to a shell, whose variables it reads and sets."""

    def elsinore(line: str, cell: str) -> Any:
        try:
            return _run(shell, parse_argstring(cell_magic, line), cell)
        except (WorkloadError, InputError, EventError, FailedError) as error:
            raise UsageError(str(error)) from None

    elsinore.__doc__ = cell_magic.__doc__
    shell.register_magic_function(elsinore, magic_kind="cell", magic_name=NAME)


@magic_arguments(NAME)
@argument("events", nargs="?", help="A variable with events, or a file; without events, the plan is shown.")
@argument("--into", "-i", metavar="NAME", help="The variable that gets the result.")
@argument("--explain", "-x", action="store_true", help="Show the plan instead of running it.")
@argument("--strategy", default="auto", help="How queries share work.")
@argument("--numeric", default="exact", choices=NUMERICS, help="How numbers are kept.")
@argument("--type-column", default="type", metavar="NAME", help="The column of event types.")
@argument("--time-column", default="time", metavar="NAME", help="The column of times.")
@argument("--time-unit", default="s", metavar="UNIT", help="The unit of numeric times.")
@argument("--lateness", default=0.0, type=float, metavar="SECONDS", help="By how much events may be late.")
@argument("--decisions", action="store_true", help="Record the decision about each burst.")
def cell_magic(line: str) -> None:
    """Run the queries of a cell over events, and show their rows."""


def _run(shell: Any, asked: Any, cell: str) -> Any:
    if asked.explain or asked.events is None:
        check(cell)
        print(explain(cell, asked.strategy))  # noqa: T201 - a cell prints
        return None
    result = run(
        cell,
        _events(shell, asked.events),
        strategy=asked.strategy,
        numeric=asked.numeric,
        type_column=asked.type_column,
        time_column=asked.time_column,
        time_unit=asked.time_unit,
        lateness=asked.lateness,
        decisions=asked.decisions,
    )
    if asked.into is not None:
        shell.user_ns[asked.into] = result
    return result


def _events(shell: Any, name: str) -> Any:
    """Return the events of a variable, or the path of a file."""
    if name in shell.user_ns:
        return shell.user_ns[name]
    if Path(name).exists():
        return name
    raise InputError(f"there is neither a variable nor a file called {name}")
