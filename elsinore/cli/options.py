"""The arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

WorkloadFile = Annotated[Path, typer.Argument(metavar="WORKLOAD", help="A file of queries.", show_default=False)]
EventFiles = Annotated[
    list[str],
    typer.Option("--events", "-e", metavar="FILE...", help="CSV, JSON lines or Parquet, one or more."),
]
MoreEventFiles = Annotated[list[str] | None, typer.Argument(hidden=True, metavar="[FILE]...")]
"""The files of `--events` after the first: an option takes one value, so the shell's `*.csv` ends up here."""

TypeColumn = Annotated[str, typer.Option(metavar="NAME", help="The column of event types.")]
TimeColumn = Annotated[str, typer.Option(metavar="NAME", help="The column of times.")]
TimeUnit = Annotated[str, typer.Option(metavar="UNIT", help="The unit of numeric times.")]
Lateness = Annotated[float, typer.Option(metavar="SECONDS", help="By how much events may be late.")]

Strategy = Annotated[str, typer.Option(help="How queries share work.")]
Numeric = Annotated[Literal["exact", "approximate"], typer.Option(help="How numbers are kept.")]
RayAddress = Annotated[
    str | None, typer.Option(help="A Ray cluster to join; by default Ray is started here.", show_default=False)
]
GraphActors = Annotated[
    int | None, typer.Option(help="Graph actors, over which partitions are distributed.", show_default="2")
]

Url = Annotated[
    str,
    typer.Option(
        envvar="ELSINORE_URL", help="The URL of the service, such as http://localhost:8000.", show_default=False
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="ELSINORE_TOKEN",
        help="The service's token.",
        show_default="that of a service of this user on this machine",
    ),
]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id.", show_default=False)]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that have a value; the others keep the defaults of the settings."""
    return {name: value for name, value in options.items() if value is not None}
