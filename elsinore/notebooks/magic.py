"""The cell magic `%%elsinore`: a workload as a cell of a notebook, run over events of the notebook."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.error import UsageError

from elsinore.api import NUMERICS, check, explain, run
from elsinore.errors import EventError, FailedError, InputError, WorkloadError


class Options(ArgumentParser):
    """The options of the magic, whose mistakes are errors of the cell and do not end the program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage()}")


def options() -> Options:
    made = Options(
        "%%elsinore", add_help=False, description="Run the queries of a cell over events, and show their rows."
    )
    made.add_argument("events", nargs="?", help="A variable with events, or a file; without it, the plan is shown.")
    made.add_argument("--into", metavar="NAME", help="The variable that gets the result.")
    made.add_argument("--explain", action="store_true", help="Show the plan instead of running it.")
    made.add_argument("--strategy", default="auto", help="How queries share work.")
    made.add_argument("--numeric", default="exact", choices=NUMERICS, help="How numbers are kept.")
    made.add_argument("--type-column", default="type", metavar="NAME", help="The column of event types.")
    made.add_argument("--time-column", default="time", metavar="NAME", help="The column of times.")
    made.add_argument("--time-unit", default="s", metavar="UNIT", help="The unit of numeric times.")
    made.add_argument("--lateness", default=0.0, type=float, metavar="SECONDS", help="By how much events may be late.")
    made.add_argument("--decisions", action="store_true", help="Record the decision about each burst.")
    return made


def register(shell: Any) -> None:
    """Add the magic to a shell, whose variables it reads and sets."""
    known = options()

    def elsinore(line: str, cell: str) -> Any:
        try:
            return _run(shell.user_ns, known.parse_args(shlex.split(line)), cell)
        except (WorkloadError, InputError, EventError, FailedError) as error:
            raise UsageError(str(error)) from None

    elsinore.__doc__ = known.format_help()
    shell.register_magic_function(elsinore, magic_kind="cell")


def _run(variables: dict[str, Any], asked: Any, cell: str) -> Any:
    if asked.explain or asked.events is None:
        check(cell)
        print(explain(cell, asked.strategy))  # noqa: T201 - a cell prints
        return None
    result = run(
        cell,
        _events(variables, asked.events),
        strategy=asked.strategy,
        numeric=asked.numeric,
        type_column=asked.type_column,
        time_column=asked.time_column,
        time_unit=asked.time_unit,
        lateness=asked.lateness,
        decisions=asked.decisions,
    )
    if asked.into is not None:
        variables[asked.into] = result
    return result


def _events(variables: dict[str, Any], name: str) -> Any:
    """Return the events of a variable, or the path of a file."""
    if name in variables:
        return variables[name]
    if Path(name).exists():
        return name
    raise InputError(f"there is neither a variable nor a file called {name}")
